#pragma once

#include <cstdint>

namespace c3 { inline namespace gpu {

/// How many tiles of \p side cover \p extent. Both > 0.
constexpr std::int64_t ceil_div(std::int64_t extent, std::int64_t side) { return (extent + side - 1) / side; }

}}  // namespace c3::gpu
