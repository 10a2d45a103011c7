#pragma once
/// A text whose first line holds the SHA-256 of all lines below it, so that an edit shows.

#include <string>
#include <string_view>

namespace c3 { inline namespace files {

/// The first line of a sealed text: \p before, 64 hexadecimal digits, \p after.
struct SealLine {
  std::string_view before, after;
};

std::string sealed(SealLine line, std::string_view rest);
/// Whether \p text is as sealed() made it with the same \p line.
bool is_sealed(SealLine line, std::string_view text);

}}  // namespace c3::files
