#include "studies/cell_numbers.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "importers/collective_times/headed_table.hpp"

namespace c3 { inline namespace studies {

double number_above_0(std::string_view cell, const Refuse& refuse) {
  const std::optional<double> value = number_in(cell);
  if (!value || *value <= 0.0) refuse(fmt::format("must be a number above 0, not '{}'", cell));
  return *value;
}

double number_from_0(std::string_view cell, const Refuse& refuse) {
  const std::optional<double> value = number_in(cell);
  if (!value || *value < 0.0) refuse(fmt::format("must be a number from 0 on, not '{}'", cell));
  return *value;
}

std::int64_t whole_number(std::string_view cell, std::int64_t largest, const Refuse& refuse) {
  const std::optional<double> value = number_in(cell);
  if (!value || *value < 1 || *value > static_cast<double>(largest) || *value != std::floor(*value))
    refuse(fmt::format("must be a whole number from 1 to {}, not '{}'", largest, cell));
  return static_cast<std::int64_t>(*value);
}

}}  // namespace c3::studies
