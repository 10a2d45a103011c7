#pragma once
/// Kernels that are tuned for what a stream has of the GPU beside the others (GOLDYLOC, arXiv 2409.02227).
/// Wrong when: libraries have measured less than all of their kernels on every share.

#include <optional>
#include <string>
#include <vector>

#include "gpu/kernel_time.hpp"
#include "gpu/kernels/operator.hpp"
#include "workloads/execute/partition.hpp"
#include "workloads/experiment.hpp"
#include "workloads/program/operator_values.hpp"

namespace c3 { inline namespace workloads {

/// What \p stream has of a GPU while all others run: the CUs of its mask, less one for each channel of the
/// largest collective of every other stream on them, divided by the number of streams with kernels there; and
/// as much of the caches. Under a serial strategy, its mask. At least one CU.
/// Wrong when: streams take turns; work groups find room beside a channel on its CU; or the bytes of a
/// collective push operands out of a cache.
KernelSlice share_of(const Experiment& experiment, const Strategy& strategy, const std::vector<CuRange>& ranges,
                     std::size_t stream);

/// Kernels of a run, each described once: of streams with the same slice.
class KernelShare {
 public:
  /// \param slice on which each kernel is its library's fastest; absent: kernels are those of the whole GPU
  KernelShare(const GpuSpec& gpu, std::optional<KernelSlice> slice) : gpu_(gpu), slice_(slice) {}

  const std::optional<KernelSlice>& slice() const { return slice_; }
  /// As describe(), of an operation of the program that has \p name as \p number. \throws InfeasibleError
  KernelDescription describe(NameId number, std::string name, const Operator& op);

 private:
  const GpuSpec& gpu_;
  std::optional<KernelSlice> slice_;
  OperatorValues<KernelDescription> kernels_;  ///< so far
};

/// By stream; absent where the strategy has KernelSelection::alone, or the stream has the whole GPU. \p
/// cluster, on which the strategy runs, must outlive them. \throws as cu_ranges
std::vector<std::optional<KernelShare>> kernel_shares(const Experiment& experiment, const ClusterSpec& cluster,
                                                      const Strategy& strategy, const CuChoice& choice);

/// "kernels of 'compute' tuned for 248 CUs" and likewise, by the names of \p streams.
std::vector<std::string> notes_of(const std::vector<std::optional<KernelShare>>& shares,
                                  const std::vector<std::string>& streams);

}}  // namespace c3::workloads
