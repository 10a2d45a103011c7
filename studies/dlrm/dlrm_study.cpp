#include "studies/study_table.hpp"

#include <utility>

#include "studies/dlrm/parts.hpp"

namespace c3 { inline namespace studies {

std::string_view dlrm_name() { return "dlrm"; }

StudyOutcome reproduce_dlrm(const StudyInput& input, const PublishedFigures& published,
                            const StudyProgress& progress) {
  RanksPart ranks;
  ChoicePart choice;
  BesidePart beside;
  SimulationJobs jobs;
  ranks.plan(jobs);
  choice.plan(jobs);
  beside.plan(jobs);
  run_simulations(jobs, progress, input.processes);
  StudyOutcome outcome;
  outcome.report = {curve_section(published), lookup_section(published), exchange_section(published)};
  outcome.report.push_back(ranks.section(published));
  for (StudySection& section : choice.sections(published))
    outcome.report.push_back(std::move(section));
  outcome.report.push_back(beside.section(published));
  return outcome;
}

}}  // namespace c3::studies
