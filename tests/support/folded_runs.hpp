#pragma once
/// Runs of one experiment with ranks folded and not, and what may differ between them.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "tests/support/near.hpp"
#include "workloads/execute/run.hpp"

namespace c3::test {

inline const Strategy kStrategy{.name = "s", .order = {}, .streams = {}};

inline Experiment experiment_of(ClusterSpec cluster, Program program) {
  Experiment experiment;
  experiment.name = "folding";
  experiment.cluster = std::move(cluster);
  experiment.program = std::move(program);
  return experiment;
}

inline RunResult run(Experiment experiment, Fold fold, const Strategy& strategy = kStrategy) {
  experiment.measure.fold = fold;
  return run_once(experiment, strategy, {});
}

inline double factor(const RunResult& result, const Experiment& experiment) {
  return static_cast<double>(experiment.cluster.ranks()) / static_cast<double>(result.classes.size());
}

inline CollectiveCall call(CollectiveKind kind, Bytes bytes, std::optional<RankGroups> groups = std::nullopt) {
  return {.kind = kind, .bytes = bytes, .groups = groups};
}

/// Whether every rank is as busy as the one that stands for it.
inline void check_activity(const RunResult& explicit_run, const RunResult& folded, Seconds difference) {
  for (const SimulatedClass& rank_class : folded.classes) {
    for (const auto& [begin, end] : rank_class.ranks) {
      for (int rank = begin; rank < end; ++rank) {
        CAPTURE(rank);
        const StepBreakdown& times = explicit_run.classes[static_cast<std::size_t>(rank)].times;
        CHECK(std::abs((times.kernels - rank_class.times.kernels).value) <= difference.value);
        CHECK(std::abs((times.communication - rank_class.times.communication).value) <= difference.value);
        CHECK(std::abs((times.exposed - rank_class.times.exposed).value) <= difference.value);
      }
    }
  }
}

/// How far \p mean may be off: the spread of what it averages and, as flows of edges show the latency of one
/// step more or less of it than those of classes do, that of each call.
inline double tolerance(const Experiment& experiment, const RunResult& explicit_run, double spread) {
  const double step = experiment.cluster.library.simple.hop_latency / explicit_run.time;
  return std::max(3e-3, spread) + step * static_cast<double>(experiment.program.calls.size());
}
inline double tolerance(const Experiment& experiment, const RunResult& explicit_run, const RunResult& mean) {
  return tolerance(experiment, explicit_run, mean.inequity);
}

/// The interval that \p mean gives has the time of \p explicit_run inside.
inline void check_interval(const Experiment& experiment, const RunResult& explicit_run, const RunResult& mean) {
  REQUIRE(mean.estimate.has_value() == (mean.inequity > 0.0));
  if (!mean.estimate) return;
  const Seconds rounding = tolerance(experiment, explicit_run, 0.0) * explicit_run.time;
  CHECK(mean.estimate->low <= explicit_run.time + rounding);
  CHECK(mean.estimate->high >= explicit_run.time - rounding);
}

/// Exact folding changes nothing, folding by the mean no more than the spread of what it averages.
inline void check_folded(const Experiment& experiment, const RunResult& explicit_run, const RunResult& mean,
                         const Strategy& strategy = kStrategy) {
  CHECK(explicit_run.classes.size() == static_cast<std::size_t>(experiment.cluster.ranks()));
  const RunResult exact = run(experiment, Fold::exact, strategy);
  CHECK(exact.time.value == near(explicit_run.time.value, 1e-9));
  check_activity(explicit_run, exact, 1e-9 * explicit_run.time + Seconds{2e-12});
  const double spread = tolerance(experiment, explicit_run, mean);
  CHECK(std::abs(mean.time / explicit_run.time - 1.0) <= spread);
  check_interval(experiment, explicit_run, mean);
  check_activity(explicit_run, mean, spread * explicit_run.time);
  int ranks = 0;
  for (const SimulatedClass& rank_class : mean.classes)
    ranks += rank_class.multiplicity();
  CHECK(ranks == experiment.cluster.ranks());
}

}  // namespace c3::test
