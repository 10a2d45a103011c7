#include "gpu/call_costs.hpp"

#include <stdexcept>

namespace c3 { inline namespace gpu {

Seconds cost_of(const CallCosts& calls, CallKind kind) {
  switch (kind) {
    case CallKind::product:
      return calls.product;
    case CallKind::batched_product:
      return calls.batched_product;
    case CallKind::elementwise:
      return calls.elementwise;
    case CallKind::softmax:
      return calls.softmax;
    case CallKind::norm:
      return calls.norm;
    case CallKind::attention:
      return calls.attention;
  }
  throw std::logic_error("cost_of: unknown kind of call");
}

}}  // namespace c3::gpu
