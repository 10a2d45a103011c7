#pragma once
/// Where the time of a run goes that may be counterfactual.

#include <string>
#include <vector>

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

/// The first \p seeds repetitions of \p what, the same whatever is impossible in it (common random numbers).
/// Steps are shortened as run_step() does. \throws as run_once
ExplainedRun explained_run(const Counterfactual& what, const CuChoice& cus, int seeds);

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
