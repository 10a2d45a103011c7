#pragma once
/// Kernels at KernelGrain::automatic: one flow each, corrected by what cohorts take.

#include <memory>
#include <optional>
#include <vector>

#include "gpu/grain_correction.hpp"
#include "gpu/kernel_time.hpp"
#include "workloads/execute/partition.hpp"
#include "workloads/experiment.hpp"
#include "workloads/program/operator_values.hpp"

namespace c3 { inline namespace workloads {

/// What the flow of each kernel of a step misses (cohorts_over_flow), found once and kept for all runs of it.
class FlowCorrections {
 public:
  /// One for the kernels of \p gpu that a library has tuned for \p slice, on \p range.
  struct Place {
    HbmArbitration arbitration;
    CuRange range;
    std::optional<KernelSlice> slice;

    friend bool operator==(const Place& a, const Place& b) {
      return a.arbitration == b.arbitration && a.range.begin == b.range.begin && a.range.end == b.range.end &&
             a.slice == b.slice;
    }
  };

  /// \param kernel what computes \p op, under \p name, at \p place of \p gpu. The same \p place is of the same
  /// GPU in all calls.
  double of(const GpuSpec& gpu, const Place& place, NameId name, const Operator& op,
            const KernelDescription& kernel);

 private:
  struct At {
    Place place;
    OperatorValues<double> corrections;
  };
  std::vector<At> found_;
};

/// What a run of \p experiment corrects flows by: \p given, or its own where that is null. nullptr where
/// kernels at KernelGrain::automatic are cohorts: in programs that are no step of a model, in steps that are
/// not estimated, and at MemoryGrain::channels.
std::shared_ptr<FlowCorrections> corrections_for(const Experiment& experiment,
                                                 std::shared_ptr<FlowCorrections> given);

}}  // namespace c3::workloads
