#include "studies/study_table.hpp"

#include <string_view>
#include <utility>

#include "studies/scaling_laws/parts.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::string_view kName = "scaling_laws";

}  // namespace

StudyOutcome reproduce_scaling_laws(const StudyInput& input, const PublishedFigures& published,
                                    const StudyProgress& progress) {
  PointsPart points(study_file(kName, "points.csv"));
  SimulationJobs jobs;
  points.plan(jobs);
  run_simulations(jobs, progress, input.processes);
  StudyOutcome outcome{.report = points.sections(published)};
  outcome.report.push_back(tables_section(input.data, published));
  if (input.wants_rows) outcome.rows_csv = points.rows_csv();
  return outcome;
}

}}  // namespace c3::studies
