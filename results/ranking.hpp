#pragma once
/// The row of a table that a sentence may name.

#include <algorithm>
#include <functional>
#include <ranges>
#include <vector>

namespace c3 { inline namespace results {

/// \p rows by \p value, the largest first; alike ones as they were.
template <class Row, class Value>
std::vector<Row> ranked(std::vector<Row> rows, Value value) {
  std::ranges::stable_sort(rows, std::ranges::greater(), value);
  return rows;
}

/// The row that ranks first by \p value, unless that is \p least or less: then none is worth a sentence, and
/// this is nullptr. A sentence takes its name and its number from here, so that it cannot contradict its table.
template <std::ranges::forward_range Rows, class Value, class Least>
const std::ranges::range_value_t<Rows>* first_of(const Rows& rows, Value value, Least least) {
  const auto first = std::ranges::max_element(rows, {}, value);
  return first == std::ranges::end(rows) || std::invoke(value, *first) <= least ? nullptr : &*first;
}

}}  // namespace c3::results
