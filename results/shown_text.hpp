#pragma once
/// Text of files that somebody else may have written, as it is shown to people. A terminal obeys control
/// characters, and a long text hides what stands around it.

#include <cstddef>
#include <string>
#include <string_view>

namespace c3 { inline namespace results {

/// One line of at most \p most bytes: control characters and what is not UTF-8 become U+FFFD, and the end of a
/// longer text "...".
std::string shown_word(std::string_view text, std::size_t most);

/// Like shown_word(), line by line; tabulators stay. For all that is printed of a file, error messages
/// included.
std::string shown_lines(std::string_view text);

}}  // namespace c3::results
