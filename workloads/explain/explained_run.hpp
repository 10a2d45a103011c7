#pragma once
/// Where the time of a run goes that may be counterfactual.

#include <optional>
#include <string>
#include <vector>

#include "workloads/analysis/steady_state.hpp"
#include "workloads/execute/partition.hpp"
#include "workloads/execute/step_breakdown.hpp"
#include "workloads/explain/causes.hpp"

namespace c3 { inline namespace workloads {

/// Means over seeds and, of times of one GPU, over ranks.
struct ExplainedRun {
  Seconds time;
  Seconds kernels;                      ///< in which at least one kernel ran
  Seconds bubble;                       ///< StepBreakdown::bubble, where there are messages between stages
  std::vector<ClassTime> classes = {};  ///< of kernels only
  std::vector<ExposedTime> exposed = {};

  Seconds of(const std::string& operator_class) const;
  bool operator==(const ExplainedRun&) const = default;
};

/// \p run with all of its times multiplied by \p factor.
ExplainedRun scaled(ExplainedRun run, double factor);

/// The first \p seeds repetitions of \p what, the same whatever is impossible in it (common random numbers).
/// Steps are shortened as run_step() does, or as run_variant() at \p sizes. \throws as run_once
ExplainedRun explained_run(const Counterfactual& what, const CuChoice& cus, int seeds,
                           const std::optional<SteadySizes>& sizes = std::nullopt);

/// A run that variants of it are compared with.
struct ComparedRun {
  ExplainedRun run;
  std::optional<SteadySizes> sizes = std::nullopt;  ///< at which its step is steady in every repetition
  double over_variant = 1.0;  ///< its time over that of explained_run() of the same at `sizes`
};
/// As explained_run(). Variants at its sizes, times `over_variant`, compare with it.
ComparedRun compared_run(const Counterfactual& what, const CuChoice& cus, int seeds);

/// The partition of \p strategy with the least time of seed 0.
CuChoice best_partition(const Experiment& experiment, const Strategy& strategy);

/// What the kernels of an average GPU have to compute.
struct KernelWork {
  /// Products of one class of operators.
  struct Products {
    std::string operator_class;
    Seconds at_peak;    ///< their useful flops at the peak of their data type
    Seconds quantized;  ///< the same with padded tiles, of which the fullest CU has more than the average one
  };
  std::vector<Products> products;  ///< by class, those with a shape only

  Seconds at_peak() const;
};

/// Of all ranks of \p experiment. Tiles are dealt one by one to all CUs. Wrong when: work groups of several
/// kernels fill the last wave together, or a persistent kernel divides tiles (stream-K).
KernelWork kernel_work(const Experiment& experiment);

}}  // namespace c3::workloads
