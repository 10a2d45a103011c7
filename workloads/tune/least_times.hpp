#pragma once
/// What operations of an experiment take at least.

#include <optional>
#include <vector>

#include "workloads/analysis/operator_profile.hpp"
#include "workloads/experiment.hpp"
#include "workloads/tune/power_bound.hpp"

namespace c3 { inline namespace workloads {

/// Share by which kernels of cohorts or work groups may be faster than alone in closed form: their times are
/// drawn, and loads, arithmetic and stores of neighbours overlap. Source:
/// tests/contract/gpu_closed_form_test.cpp, whose kernels of training steps agree within 1 to 7 %. Kernels of
/// the fluid grain take their closed form exactly.
inline constexpr double kCohortMargin = 0.07;

/// Times of a script's operations, by stream and operation.
using OperationTimes = std::vector<std::vector<Seconds>>;

/// Kernels alone in the clock of a burst, less the margin of their grain; communication takes no time.
class LeastTimes {
 public:
  /// \p experiment must outlive it. \param cus_per_xcd that its kernels have; 0: all
  explicit LeastTimes(const Experiment& experiment, int cus_per_xcd = 0);

  /// \throws InfeasibleError as describe() does
  OperationTimes of(const Script& script);
  Seconds of(const Operation& operation);

 private:
  const Experiment& experiment_;
  ClusterSpec cluster_;
  IsolatedTimes alone_;
};

/// Power of products at boost clock, found once for each that is unlike the others.
class PowerLoads {
 public:
  explicit PowerLoads(const GpuSpec& gpu) : gpu_(gpu) {}

  /// Absent of a kernel whose power is not known. \param name of its operation
  std::optional<PowerLoad> of(NameId name, const Operator& op);

 private:
  std::optional<PowerLoad> load_of(KernelDescription kernel) const;

  const GpuSpec& gpu_;
  OperatorValues<std::optional<PowerLoad>> known_;
};

/// How long each stream of \p script takes by itself under the power limit of \p gpu, where it takes \p lasts
/// without one; 0 of a stream of no products.
std::vector<Seconds> power_bounds(const Script& script, const OperationTimes& lasts, const GpuSpec& gpu,
                                  PowerLoads& loads);

}}  // namespace c3::workloads
