#pragma once

#include <string>
#include <string_view>

namespace c3 {

/// \returns the SHA-256 of \p text as 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view text);

}  // namespace c3
