#pragma once
/// Texts that are compared whatever the case of their letters.

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

namespace c3 { inline namespace base {

/// \p text with its ASCII letters in lower case.
inline std::string in_small_letters(std::string_view text) {
  std::string small(text);
  std::ranges::transform(small, small.begin(),
                         [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return small;
}

}}  // namespace c3::base
