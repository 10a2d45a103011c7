#pragma once
/// Groups of ranks as people write them.

#include <string>
#include <string_view>
#include <vector>

namespace c3 { inline namespace configs {

class Section;

inline constexpr int kMostRanks = 1 << 20;  ///< ranks are below it

/// "0-3,6" is {0, 1, 2, 3, 6}, in that order. \throws std::invalid_argument that says what is wrong.
std::vector<int> parse_ranks(std::string_view text);

/// The inverse of parse_ranks(): three neighbours and more are a range.
std::string ranks_text(const std::vector<int>& ranks);

/// Ranks at \p key: a list, or a text of ranges.
std::vector<int> read_ranks(Section& section, std::string_view key);
/// Like read_ranks(), where ranks may be left out; then there are none.
std::vector<int> optional_ranks(Section& section, std::string_view key);

}}  // namespace c3::configs
