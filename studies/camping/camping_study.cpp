#include "studies/study_table.hpp"

#include <string_view>
#include <utility>

#include "studies/camping/parts.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::string_view kName = "camping";

}  // namespace

StudyOutcome reproduce_camping(const StudyInput& input, const PublishedFigures& published,
                               const StudyProgress& progress) {
  MappingsPart mappings;
  ConvolutionsPart convolutions;
  SimulationJobs jobs;
  mappings.plan(jobs);
  convolutions.plan(jobs);
  run_simulations(jobs, progress, input.processes);
  StudyOutcome outcome{.report = {laws(published)}};
  for (StudySection& section : mappings.sections(published))
    outcome.report.push_back(std::move(section));
  for (StudySection& section : convolutions.sections(published))
    outcome.report.push_back(std::move(section));
  if (input.wants_rows) {
    mappings.record();
    outcome.rows_csv = mappings.rows_csv();
  }
  return outcome;
}

}}  // namespace c3::studies
