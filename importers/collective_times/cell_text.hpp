#pragma once
/// Cells of tables as values.

#include <optional>
#include <string>
#include <string_view>

namespace c3 { inline namespace importers {

/// The number in \p cell. Absent when it is not one, all of it.
std::optional<double> number_in(std::string_view cell);

std::string in_lower_case(std::string_view text);

/// Without the spaces around it.
std::string_view trimmed(std::string_view text);

}}  // namespace c3::importers
