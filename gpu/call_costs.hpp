#pragma once
/// What calls of an eager framework cost: a property of the host that makes them, and of no GPU.

#include <cstdint>

#include "engine/units.hpp"

namespace c3 { inline namespace gpu {

/// Which operator of a framework launches a kernel.
enum class CallKind : std::uint8_t { product, batched_product, elementwise, softmax, norm, attention };

/// From the call of an operator until its kernel runs, of one call that nothing hides: the floor of tables that
/// were taken between events. 0: no host is in the measurement.
/// Wrong when: calls follow one another faster than the GPU runs them, and their cost is hidden.
struct CallCosts {
  Seconds product;
  Seconds batched_product;
  Seconds elementwise;
  Seconds softmax;
  Seconds norm;  ///< layer and RMS norm
  Seconds attention;

  bool operator==(const CallCosts&) const = default;
};

Seconds cost_of(const CallCosts& calls, CallKind kind);

}}  // namespace c3::gpu
