#pragma once
/// UTF-8 (RFC 3629), the encoding of every text in files that c3sim writes. File names may be of any bytes.

#include <string>
#include <string_view>

namespace c3 { inline namespace results {

bool is_utf8(std::string_view text);

/// \returns \p text with each byte that is not part of valid UTF-8 replaced by U+FFFD.
std::string to_utf8(std::string_view text);

}}  // namespace c3::results
