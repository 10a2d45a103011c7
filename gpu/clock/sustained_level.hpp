#pragma once
/// Where large matrix products of a GPU settle under its power limit, and how that is known.

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/enum_names.hpp"
#include "engine/units.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace gpu {

/// GovernorSpec::measured_on where no part was measured.
inline constexpr std::string_view kNoPart = "none";

enum class LevelEvidence {
  node,      ///< measured on this very node and given as GovernorSpec::level
  measured,  ///< products were measured on this part under its limit
  relative,  ///< on another part of the same chip, class of board and power limit
  none,      ///< on no such part
};
constexpr auto enum_names(LevelEvidence) {
  return std::to_array<EnumName<LevelEvidence>>({{"node", LevelEvidence::node},
                                                 {"measured", LevelEvidence::measured},
                                                 {"relative", LevelEvidence::relative},
                                                 {"none", LevelEvidence::none}});
}

/// A level that was taken from another part lies within 10 % of the truth (assumed: boards of one type differ
/// by as much between sites).
struct SustainedLevel {
  LevelEvidence evidence = LevelEvidence::none;
  std::string measured_on = {};  ///< slug of the part; empty where none was measured
  FlopsPerSecond rate;           ///< of large 16-bit products
  /// Absent where it was measured, and where the preset has a range of its own for the rate.
  std::optional<FlopsPerSecond> low = std::nullopt, high = std::nullopt;

  friend bool operator==(const SustainedLevel&, const SustainedLevel&) = default;
};

/// Of the 16-bit type with the higher rate; absent where \p gpu has none. A board under another limit than it
/// is sold with has no relative.
std::optional<SustainedLevel> sustained_level(const GpuSpec& gpu);

}}  // namespace c3::gpu
