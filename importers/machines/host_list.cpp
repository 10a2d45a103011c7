#include "importers/machines/host_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace c3 { inline namespace importers {
namespace {

constexpr std::size_t kLongestNumber = 9;
constexpr std::size_t kMostBrackets = 4;
constexpr std::size_t kLongestName = 256;

[[noreturn]] void refuse(std::string message) { throw std::invalid_argument(std::move(message)); }

int number_in(std::string_view digits) {
  int number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() || digits.size() > kLongestNumber ||
      number < 0)
    refuse(fmt::format("'{}' is not a number of at most {} digits", digits, kLongestNumber));
  return number;
}

/// "001-128,140": numbers keep their leading zeros.
std::vector<std::string> numbers_in(std::string_view ranges) {
  std::vector<std::string> numbers;
  while (true) {
    const std::size_t comma = std::min(ranges.find(','), ranges.size());
    const std::string_view range = ranges.substr(0, comma);
    const std::size_t dash = std::min(range.find('-'), range.size());
    const std::string_view first = range.substr(0, dash);
    const int low = number_in(first);
    const int high = dash == range.size() ? low : number_in(range.substr(dash + 1));
    if (high < low) refuse(fmt::format("'{}' goes backwards", range));
    if (static_cast<std::size_t>(high - low) + numbers.size() >= kMostHosts)
      refuse(fmt::format("'{}' has more than {} names", range, kMostHosts));
    for (int number = low; number <= high; ++number)
      numbers.push_back(fmt::format("{:0{}}", number, first.size()));
    if (comma == ranges.size()) return numbers;
    ranges.remove_prefix(comma + 1);
  }
}

/// One name, of which each part in brackets stands for several.
std::vector<std::string> expand_one(std::string_view name) {
  if (name.size() > kLongestName && name.find('[') == std::string_view::npos)
    refuse("a name is longer than 256 letters");
  std::vector<std::string> names = {""};
  for (std::size_t brackets = 0; !name.empty(); ++brackets) {
    const std::size_t open = std::min(name.find('['), name.size());
    const std::size_t close = name.find(']');
    if (open == name.size() && close != std::string_view::npos) refuse("a bracket is closed that is not open");
    if (open < name.size() && (close == std::string_view::npos || close < open))
      refuse("a bracket is not closed");
    if (brackets == kMostBrackets) refuse("a name has more than 4 brackets");
    const std::vector<std::string> numbers =
        open < name.size() ? numbers_in(name.substr(open + 1, close - open - 1)) : std::vector<std::string>{""};
    if (names.size() * numbers.size() > kMostHosts)
      refuse(fmt::format("it has more than {} names", kMostHosts));
    std::vector<std::string> longer;
    longer.reserve(names.size() * numbers.size());
    for (const std::string& begin : names) {
      for (const std::string& number : numbers)
        longer.push_back(fmt::format("{}{}{}", begin, name.substr(0, open), number));
    }
    names = std::move(longer);
    name.remove_prefix(open < name.size() ? close + 1 : name.size());
  }
  return names;
}

/// The end of the name at the front of \p list: a comma outside brackets.
std::size_t name_end(std::string_view list) {
  bool is_inside = false;
  for (std::size_t at = 0; at < list.size(); ++at) {
    if (list[at] == '[') is_inside = true;
    if (list[at] == ']') is_inside = false;
    if (list[at] == ',' && !is_inside) return at;
  }
  return list.size();
}

}  // namespace

std::vector<std::string> expand_hosts(std::string_view list) {
  if (list.empty()) refuse("there is no name");
  std::vector<std::string> names;
  while (true) {
    const std::size_t end = name_end(list);
    if (end == 0) refuse("a name is empty");
    std::vector<std::string> more = expand_one(list.substr(0, end));
    names.insert(names.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
    if (names.size() > kMostHosts) refuse(fmt::format("it has more than {} names", kMostHosts));
    if (end == list.size()) return names;
    list.remove_prefix(end + 1);
  }
}

}}  // namespace c3::importers
