#pragma once
/// Ranks in names of files.

#include <optional>
#include <string_view>

namespace c3 { inline namespace traces {

/// \returns 3 for "et_3.json.gz", "chakra.3.et", "rank3_et.json" and "run/rank-3/et.json"; nothing for names
/// without a number behind "rank" or at their end, such as "a100_et.json".
std::optional<int> rank_in_name(std::string_view path);

}}  // namespace c3::traces
