#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "configs/jobs/experiment_reader.hpp"
#include "studies/traces/parts.hpp"
#include "workloads/comparison/similarity.hpp"
#include "workloads/traces/benchmark/benchmark_run.hpp"
#include "workloads/traces/execution/operator_list_changes.hpp"
#include "workloads/traces/execution/operator_times.hpp"
#include "workloads/traces/replay/replay_program.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr double kPercent = 100.0;
constexpr const char* kSystem = "a100-sxm-80gb-8";  // of the recording

/// The list of a run and what it was made from.
struct Benchmark {
  OperatorList list;
  std::vector<KinetoJoin> joins;
  std::vector<OperatorCoverage> coverage;
  std::vector<ListedRank> ranks;
};

Benchmark benchmark_of(const TraceRun& run) {
  Benchmark made;
  made.joins.reserve(run.executions.size());  // pointers to them stay
  std::vector<std::size_t> rank_of;
  for (std::size_t i = 0; i < run.executions.size(); ++i) {
    const ExecutionTrace& execution = run.executions[i];
    made.joins.push_back(join_with_kineto(run.ranks[i].trace, execution));
    RankOperators& rank = made.list.ranks.emplace_back(list_operators(execution, run.ranks[i].number()));
    made.coverage.push_back(add_times(rank, execution, run.ranks[i], made.joins.back()));
    made.ranks.push_back({.execution = &execution,
                          .join = &made.joins.back(),
                          .rank = i,
                          .repetitions = made.coverage.back().repetitions});
    rank_of.push_back(i);
  }
  add_starts(made.list, run.ranks, rank_of);
  return made;
}

Experiment experiment_of(const RecordedRun& run, std::vector<WorkClass> classes) {
  Experiment experiment;
  experiment.name = "benchmark";
  experiment.cluster = load_cluster(kSystem);
  experiment.program =
      replay_program(run, experiment.cluster.ranks(), {std::move(classes), &experiment.cluster.gpu});
  experiment.strategies.push_back({.name = "benchmark", .order = {}, .streams = {}});
  return experiment;
}

std::vector<RankSimilarity> compared(const RecordedRun& recording, const OperatorList& list,
                                     const std::vector<ListedRank>& listed) {
  const RecordedRun run = benchmark_run(list);
  const Experiment with_recorded = experiment_of(run, {}),
                   with_modelled = experiment_of(run, all_work_classes());
  return similarities({.recording = recording,
                       .run = run,
                       .with_recorded = with_recorded,
                       .with_modelled = with_modelled,
                       .listed = listed});
}

/// Over all ranks.
struct Sums {
  double recorded = 0.0, replayed = 0.0, modelled = 0.0;
};
Sums sums_of(const std::vector<RankSimilarity>& ranks, std::string_view figure) {
  Sums sums;
  for (const RankSimilarity& rank : ranks) {
    const auto row = std::ranges::find(rank.rows, figure, &SimilarityRow::figure);
    if (row == rank.rows.end()) continue;
    sums.recorded += row->recorded.value_or(0.0);
    sums.replayed += row->replayed.value_or(0.0);
    sums.modelled += row->modelled.value_or(0.0);
  }
  return sums;
}

StudyLine line_of(const PublishedFigures& published, const std::string& id, const std::string& label,
                  double value) {
  StudyLine line{.figure = {.of = published.find(id)}, .label = label};
  line.figure.simulated = value;
  return line;
}

StudySection coverage_section(const Benchmark& made, const PublishedFigures& published) {
  StudySection section{.heading = "A benchmark from execution traces: GPU work that listed operators launched",
                       .lines = {},
                       .notes = {"The worst of 8 ranks."},
                       .value = "here",
                       .decimals = 2};
  double count = 1.0, time = 1.0;
  for (const OperatorCoverage& of : made.coverage) {
    count = std::min(count, static_cast<double>(of.covered) / static_cast<double>(of.activities));
    time = std::min(time, static_cast<double>(of.covered_time.count) / static_cast<double>(of.time.count));
  }
  section.lines.push_back(line_of(published, "benchmark.coverage.count", "by count", kPercent * count));
  section.lines.push_back(line_of(published, "benchmark.coverage.time", "by time", kPercent * time));
  return section;
}

/// Of all ranks together.
StudySection class_section(const std::vector<RankSimilarity>& ranks, const PublishedFigures& published) {
  StudySection section{
      .heading = "The same, simulated: times of classes against those of the trace's kernels",
      .lines = {},
      .notes = {"replayed: with recorded times; modelled: from shapes alone, on the GPUs of the recording. "
                "Transfer is the time of collectives from the arrival of the last rank."},
      .value = "here",
      .decimals = 2};
  for (const std::string figure : {"gemm", "vector", "transfer", "waiting for late ranks", "step"}) {
    const Sums sums = sums_of(ranks, figure);
    const std::string id = figure.substr(0, figure.find(' '));
    for (const auto& [mode, time] : {std::pair("replayed", sums.replayed), {"modelled", sums.modelled}}) {
      StudyLine line = line_of(published, fmt::format("benchmark.{}.{}", mode, id),
                               fmt::format("{}, {}", figure, mode), kPercent * (time / sums.recorded - 1.0));
      line.beside = {{"recorded [ms]", sums.recorded * 1e-3}, {"simulated [ms]", time * 1e-3}};
      section.lines.push_back(std::move(line));
    }
  }
  return section;
}

/// The largest difference of any figure of any rank, names aside.
StudySection obfuscated_section(const std::vector<RankSimilarity>& plain,
                                const std::vector<RankSimilarity>& hidden, const PublishedFigures& published) {
  const auto is_named = [](const SimilarityRow& row) { return row.figure.starts_with("operator "); };
  double worst = 0.0;
  std::size_t compared = 0;
  for (std::size_t rank = 0; rank < plain.size(); ++rank) {
    for (const SimilarityRow& row : plain[rank].rows) {
      if (is_named(row)) continue;
      const auto other = std::ranges::find(hidden[rank].rows, row.figure, &SimilarityRow::figure);
      if (other == hidden[rank].rows.end()) continue;
      ++compared;
      worst = std::max({worst, std::abs(row.replayed.value_or(0.0) - other->replayed.value_or(0.0)),
                        std::abs(row.modelled.value_or(0.0) - other->modelled.value_or(0.0))});
    }
  }
  StudySection section{.heading = "Obfuscated against plain: the largest difference of any figure",
                       .lines = {},
                       .notes = {},
                       .value = "here",
                       .decimals = 4};
  section.lines.push_back(line_of(published, "benchmark.obfuscated", "all but names of operators", worst));
  section.lines.back().rows = compared;
  return section;
}

}  // namespace

StudyReport benchmark_sections(const TraceRuns& runs, const PublishedFigures& published) {
  const TraceRun* const run = runs.find(kMegatronRun);
  if (run == nullptr || run->executions.size() != run->ranks.size()) return {};
  const Benchmark made = benchmark_of(*run);
  const RecordedRun recording = named_by_list(run->ranks, made.ranks, made.list);
  const std::vector<RankSimilarity> plain = compared(recording, made.list, made.ranks);
  const std::vector<RankSimilarity> hidden = compared(recording, obfuscated(made.list), made.ranks);
  return {coverage_section(made, published), class_section(plain, published),
          obfuscated_section(plain, hidden, published)};
}

}}  // namespace c3::studies
