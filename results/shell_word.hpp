#pragma once

#include <string>

namespace c3 { inline namespace results {

/// \p word as a POSIX shell takes it, for command lines that files and tables hold.
std::string shell_word(const std::string& word);

}}  // namespace c3::results
