#pragma once
/// What a framework's host thread takes for one operator, beside its kernels.

#include "engine/units.hpp"

namespace c3 { inline namespace workloads {

/// T1 to T5 of Lin et al. (arXiv 2201.07821): a host comes to an operator after `between`, to its first launch
/// after its own T2, launches each kernel in `launch`, two launches being `between_launches` apart, and leaves
/// it `after` its last one. An operator without kernels takes `between_launches`. Wrong when: operators overlap
/// on several threads.
struct OperatorOverheads {
  Seconds between = {};           ///< T1
  Seconds after = {};             ///< T3
  Seconds launch = {};            ///< T4
  Seconds between_launches = {};  ///< T5
  // T2, by operator:
  Seconds linear = {};
  Seconds linear_backward = {};
  Seconds relu = {};
  Seconds accumulate = {};  ///< of a gradient
  Seconds bmm = {};
  Seconds cat = {};
  Seconds to = {};  ///< a copy from the host
  Seconds lookup = {};
  Seconds lookup_backward = {};
  Seconds all_to_all = {};
  Seconds optimizer = {};
  Seconds zero_grad = {};
  Seconds other = {};

  bool operator==(const OperatorOverheads&) const = default;
};

}}  // namespace c3::workloads
