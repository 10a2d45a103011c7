#include "studies/cases/cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "base/nearest_name.hpp"

namespace c3 { inline namespace studies {

std::optional<std::string> Cells::fill(std::string_view text, std::string_view key,
                                       const Places& places) const {
  constexpr std::string_view kBegin = "${";
  std::string filled;
  bool is_whole = true;
  while (true) {
    const std::size_t at = text.find(kBegin);
    filled += text.substr(0, at);
    if (at == std::string_view::npos) return is_whole ? std::optional(filled) : std::nullopt;
    const std::size_t end = text.find('}', at);
    if (end == std::string_view::npos) fail(key, fmt::format("'{}' has no '}}'", text.substr(at)));
    const std::size_t begin = at + kBegin.size();
    const std::string_view cell = text_called(text.substr(begin, end - begin), key, places);
    is_whole = is_whole && !cell.empty();
    filled += cell;
    text.remove_prefix(end + 1);
  }
}

Formula Cells::formula(std::string_view text, std::string_view key) const {
  try {
    return Formula(this->text(text, key));
  } catch (const std::invalid_argument& error) {
    fail(key, error.what());
  }
}

std::map<std::string, double> Cells::numbers() const {
  std::map<std::string, double> found;
  for (std::size_t i = 0; i < row_.cells.size(); ++i)
    if (const auto number = number_in(row_.cells[i])) found.emplace(table_.columns()[i], *number);
  return found;
}

std::string_view Cells::text_called(std::string_view name, std::string_view key, const Places& places) const {
  if (const auto place = places.find(name); place != places.end()) return place->second;
  const auto found = std::ranges::find(table_.columns(), name);
  if (found == table_.columns().end()) fail(key, unknown_name("column", name, table_.columns()));
  return row_.cells[static_cast<std::size_t>(found - table_.columns().begin())];
}

}}  // namespace c3::studies
