#pragma once
/// Which kernels hand their output to a fused collective.

#include <map>
#include <tuple>

#include "collectives/backends/fused/fused_collective.hpp"
#include "workloads/execute/call_runs.hpp"
#include "workloads/experiment.hpp"

namespace c3 { inline namespace workloads {

/// The fused collectives of a run, by the kernel that makes their data.
class Fusions {
 public:
  /// \p calls must outlive it. \throws InfeasibleError for a fused collective without such a kernel
  Fusions(const Experiment& experiment, const Strategy& strategy, const CallRuns& calls);

  /// What moves the output of the kernel at \p place of \p script from \p rank, or null.
  FusedCollective* of(std::uint32_t script, OperationPlace place, int rank) const;

 private:
  void add(const Experiment& experiment, const Strategy& strategy, std::uint32_t script, OperationPlace place);

  const CallRuns& calls_;
  std::map<std::tuple<std::uint32_t, std::size_t, std::size_t>, CallId> fused_;  ///< by script and place
};

}}  // namespace c3::workloads
