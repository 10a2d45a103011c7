#include "importers/collective_times/table_rows.hpp"

#include <functional>

#include "base/csv_text.hpp"

namespace c3 { inline namespace importers {

std::uint32_t column_in(const TableRow& row, std::string_view cell) {
  const char* const begin = row.text.data();
  const char* const end = begin + row.text.size();
  const bool is_inside =
      cell.data() != nullptr && !std::less<>()(cell.data(), begin) && !std::less<>()(end, cell.data());
  return is_inside ? column_of(row.text, cell) : 1;
}

}}  // namespace c3::importers
