#pragma once
/// Layers of pipeline stages as Megatron-Core writes them: "E|(t|)*3,tt|L".

#include <cstdint>
#include <optional>
#include <string_view>

namespace c3 { inline namespace importers {

struct StageLayout {
  std::int64_t chunks = 0;  ///< number over all stages
  std::int64_t layers = 0;
};

/// Absent for what is not a layout of embedding (E), layers (t) and loss (L), or one beyond reason.
std::optional<StageLayout> stage_layout(std::string_view text);

}}  // namespace c3::importers
