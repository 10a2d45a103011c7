#pragma once
/// How many rows of a table `c3sim diff -n` shows.

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace c3 { inline namespace results {

/// The first \p lines of \p rows; 0: all.
template <class Row>
std::span<const Row> first_lines(const std::vector<Row>& rows, std::size_t lines) {
  return std::span(rows).first(lines == 0 ? rows.size() : std::min(lines, rows.size()));
}

/// What a table with \p all lines leaves out; empty: nothing.
inline std::string left_out_text(std::size_t all, std::size_t shown, const char* what) {
  return all > shown ? fmt::format("{} more {}: -n {}\n", all - shown, what, all) : "";
}

}}  // namespace c3::results
