#include "importers/collective_times/cell_text.hpp"

#include <charconv>
#include <cmath>

namespace c3 { inline namespace importers {
std::optional<double> number_in(std::string_view cell) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || end != cell.data() + cell.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

}}  // namespace c3::importers
