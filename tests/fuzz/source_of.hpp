#pragma once
/// Bytes of a fuzzer as a file that is read in parts.

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>

#include "workloads/traces/json_splitter.hpp"

namespace c3 {

/// Gives the text in parts that are no multiple of anything, so that words are cut.
inline ByteSource source_of(std::string_view text) {
  return [text](std::span<char> space) mutable {
    const std::size_t count = std::min({std::size_t{61}, space.size(), text.size()});
    std::copy_n(text.begin(), count, space.begin());
    text.remove_prefix(count);
    return count;
  };
}

/// Takes what is before the next line "---" off the front; all if there is none.
inline std::string_view take_part(std::string_view& rest) {
  constexpr std::string_view kBetween = "\n---\n";
  const std::size_t end = rest.find(kBetween);
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + kBetween.size());
  return part;
}

}  // namespace c3
