#include "studies/cases/cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "base/nearest_name.hpp"
#include "base/trimmed.hpp"

namespace c3 { inline namespace studies {
namespace {

std::vector<double> numbers_within(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789";
  std::vector<double> numbers;
  for (std::size_t at = text.find_first_of(kDigits); at != std::string_view::npos;
       at = text.find_first_of(kDigits)) {
    text.remove_prefix(at);
    double number = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    numbers.push_back(number);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
  return numbers;
}

}  // namespace

std::optional<std::string> Cells::fill(std::string_view text, std::string_view key,
                                       const Places& places) const {
  auto [words, is_whole] = filled(text, key, places);
  return is_whole ? std::optional(std::move(words)) : std::nullopt;
}

std::pair<std::string, bool> Cells::filled(std::string_view text, std::string_view key,
                                           const Places& places) const {
  constexpr std::string_view kBegin = "${";
  std::string filled;
  bool is_whole = true;
  while (true) {
    const std::size_t at = text.find(kBegin);
    filled += text.substr(0, at);
    if (at == std::string_view::npos) return {filled, is_whole};
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
    return Formula(filled(text, key, {}).first);
  } catch (const std::invalid_argument& error) {
    fail(key, error.what());
  }
}

std::string_view Cells::find(std::string_view column) const {
  const auto found = std::ranges::find(table_.columns(), column);
  return found == table_.columns().end()
             ? std::string_view{}
             : row_.cells[static_cast<std::size_t>(found - table_.columns().begin())];
}

std::map<std::string, double> Cells::numbers() const {
  std::map<std::string, double> found;
  for (std::size_t i = 0; i < row_.cells.size(); ++i) {
    const std::string name = as_name(table_.columns()[i]);
    if (const auto number = number_in(row_.cells[i])) {
      found.emplace(name, *number);
      continue;
    }
    const std::vector<double> numbers = numbers_within(row_.cells[i]);
    for (std::size_t place = 0; place < numbers.size(); ++place)
      found.emplace(fmt::format("{}.{}", name, place), numbers[place]);
  }
  return found;
}

std::string_view Cells::text_called(std::string_view name, std::string_view key, const Places& places) const {
  if (const auto place = places.find(name); place != places.end()) return place->second;
  const auto found = std::ranges::find(table_.columns(), name);
  if (found == table_.columns().end()) fail(key, unknown_name("column", name, table_.columns()));
  return row_.cells[static_cast<std::size_t>(found - table_.columns().begin())];
}

std::vector<std::string> listed(std::string_view text) {
  std::vector<std::string> found;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(';'), text.size());
    if (const std::string_view element = trimmed(text.substr(0, end)); !element.empty())
      found.emplace_back(element);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return found;
}

}}  // namespace c3::studies
