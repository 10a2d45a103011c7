#pragma once
/// What the kernels of a trace compute, each by the PyTorch operator that launched it.

#include <cstdint>
#include <deque>
#include <vector>

#include "workloads/traces/rank_record.hpp"
#include "workloads/traces/retiming/kernel_operator.hpp"

namespace c3 { inline namespace traces {

/// The operators of all GPU work of a rank. Kernels that are alike share one.
class KernelOperators {
 public:
  /// \param rank read only here
  explicit KernelOperators(const Rank& rank);

  /// \param activity in Trace::activities
  const KernelOperator& of(std::uint32_t activity) const { return distinct_[index_[activity]]; }
  /// The same number for work that shares an operator, below distinct().
  std::uint32_t index_of(std::uint32_t activity) const { return index_[activity]; }
  std::size_t distinct() const { return distinct_.size(); }
  const KernelOperator& at(std::uint32_t index) const { return distinct_[index]; }

 private:
  std::deque<KernelOperator> distinct_;
  std::vector<std::uint32_t> index_;  ///< [activities]
};

}}  // namespace c3::traces
