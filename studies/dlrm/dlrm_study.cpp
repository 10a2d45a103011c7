#include "studies/dlrm/dlrm_study.hpp"

#include <utility>

#include "studies/dlrm/parts.hpp"

namespace c3 { inline namespace studies {
namespace {

StudyOutcome reproduce_dlrm(const StudyInput& input, const PublishedFigures& published,
                            const StudyProgress& progress) {
  DlrmStepsPart steps;
  NetworksPart networks;
  RanksPart ranks;
  ChoicePart choice;
  BesidePart beside;
  SimulationJobs jobs;
  steps.plan(jobs);
  networks.plan(jobs);
  ranks.plan(jobs);
  choice.plan(jobs);
  beside.plan(jobs);
  run_simulations(jobs, progress, input.processes);
  StudyOutcome outcome;
  outcome.report = {curve_section(published), lookup_section(published), exchange_section(published)};
  for (StudySection& section : steps.sections(published))
    outcome.report.push_back(std::move(section));
  outcome.report.push_back(networks.section(published));
  outcome.report.push_back(ranks.section(published));
  for (StudySection& section : choice.sections(published))
    outcome.report.push_back(std::move(section));
  outcome.report.push_back(beside.section(published));
  return outcome;
}

}  // namespace

std::string_view dlrm_name() { return "dlrm"; }

Study dlrm_study() {
  return {.name = dlrm_name(),
          .about = "recommendation models on one and several GPUs (arXiv 2201.07821, 2404.12674)",
          .files = {},
          .run = reproduce_dlrm};
}

}}  // namespace c3::studies
