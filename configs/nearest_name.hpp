#pragma once
/// "did you mean": the known name nearest to what was written.

#include <span>
#include <string>
#include <string_view>

namespace c3 {

/// \returns the candidate with the fewest edits (insert, delete, replace, swap of neighbours) from \p written,
/// large and small letters alike; a candidate that \p written (3 letters or more) begins counts as one edit;
/// empty when none is near enough to be a slip of the keyboard. Ties go to the first candidate.
std::string nearest_name(std::string_view written, std::span<const std::string> candidates);

/// "unknown \p what 'written'; known: a, b, c; did you mean 'a'?"
std::string unknown_name(std::string_view what, std::string_view written, std::span<const std::string> known);

}  // namespace c3
