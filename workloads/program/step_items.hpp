#pragma once
/// What a step takes: tokens, images, samples or sequences.

#include <array>
#include <cstdint>

#include "base/enum_names.hpp"

namespace c3 { inline namespace workloads {

/// By which the speed of a kind of workload is told.
enum class StepItem : std::uint8_t { tokens, images, samples, sequences };
constexpr auto enum_names(StepItem) {
  return std::to_array<EnumName<StepItem>>({{"tokens", StepItem::tokens},
                                            {"images", StepItem::images},
                                            {"samples", StepItem::samples},
                                            {"sequences", StepItem::sequences}});
}
inline constexpr auto kStepItems = enum_values<StepItem>();

/// How many of them one step takes.
struct StepItems {
  StepItem item = StepItem::tokens;
  std::int64_t count = 0;  ///< of all ranks

  bool operator==(const StepItems&) const = default;
};

}}  // namespace c3::workloads
