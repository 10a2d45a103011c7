#include "studies/bert/bert_study.hpp"

#include <string_view>
#include <utility>

#include "studies/bert/parts.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::string_view kName = "bert";

StudyOutcome reproduce_bert(const StudyInput& input, const PublishedFigures& published,
                            const StudyProgress& progress) {
  BreakdownPart breakdown;
  ScalePart scale;
  ThroughputPart throughput(study_file(kName, "throughput.csv"));
  SimulationJobs jobs;
  breakdown.plan(jobs);
  scale.plan(jobs);
  throughput.plan(jobs);
  run_simulations(jobs, progress, input.processes);
  StudyOutcome outcome{.report = breakdown.sections(published)};
  for (StudySection& section : scale.sections(published))
    outcome.report.push_back(std::move(section));
  outcome.report.push_back(throughput.section(published));
  if (input.wants_rows) outcome.rows_csv = breakdown.rows_csv();
  return outcome;
}

}  // namespace

Study bert_study() {
  return {.name = kName,
          .about = "BERT-Large pre-training: operators of a step (arXiv 2104.08335), MLPerf 0.7 results",
          .files = {},
          .run = reproduce_bert,
          .has_rows = true};
}

}}  // namespace c3::studies
