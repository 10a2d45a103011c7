#pragma once
/// Texts without the spaces around them.

#include <string_view>

namespace c3 { inline namespace base {

/// \p text without spaces, tabs and carriage returns at its ends, as a view of it also where nothing is left.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kAround = " \t\r";
  const std::size_t first = text.find_first_not_of(kAround);
  if (first == std::string_view::npos) return text.substr(0, 0);
  return text.substr(first, text.find_last_not_of(kAround) - first + 1);
}

}}  // namespace c3::base
