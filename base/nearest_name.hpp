#pragma once
/// "did you mean": the known name nearest to what was written.

#include <span>
#include <string>
#include <string_view>

namespace c3 { inline namespace base {

/// \returns the candidate with the fewest edits (insert, delete, replace, swap of neighbours) from \p written,
/// large and small letters alike. Candidates that begin with \p written (3 letters or more) come first, the
/// shortest of them before all. Empty when none is near enough to be a slip of the keyboard. Ties go to the
/// first candidate.
std::string nearest_name(std::string_view written, std::span<const std::string> candidates);

/// "unknown \p what 'written'; did you mean 'a'? known: a, b, c". When there is a suggestion, only the first
/// names of a long list are given.
std::string unknown_name(std::string_view what, std::string_view written, std::span<const std::string> known);

}}  // namespace c3::base
