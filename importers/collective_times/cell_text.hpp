#pragma once
/// Cells of tables as values.

#include <optional>
#include <string_view>

namespace c3 { inline namespace importers {

/// The number in \p cell. Absent when it is not one, all of it.
std::optional<double> number_in(std::string_view cell);

}}  // namespace c3::importers
