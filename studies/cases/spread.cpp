#include "studies/cases/spread.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace c3 { inline namespace studies {
namespace {

constexpr int kMostElements = 1000;

/// `0..2: a.#` as `(a.0),(a.1),(a.2)`.
std::string spread_list(std::string_view text) {
  const auto fail = [&] {
    throw std::invalid_argument(
        fmt::format("'[{}]': must be as [0..7: rows.#.time], with {} elements at most", text, kMostElements));
  };
  const char* const end = text.data() + text.size();
  int first = 0, last = 0;
  const char* at = std::from_chars(text.data(), end, first).ptr;
  if (!std::string_view(at, end).starts_with("..")) fail();
  at = std::from_chars(at + 2, end, last).ptr;
  if (at == end || *at != ':' || first < 0 || last < first || last - first >= kMostElements) fail();
  const std::string_view pattern(at + 1, end);
  std::string list;
  for (int element = first; element <= last; ++element) {
    list += element == first ? "(" : ",(";
    for (const char letter : pattern)
      letter == '#' ? list += fmt::to_string(element) : list += letter;
    list += ')';
  }
  return list;
}

}  // namespace

std::string spread(std::string_view formula) {
  std::string written;
  while (true) {
    const std::size_t open = formula.find('[');
    written += formula.substr(0, open);
    if (open == std::string_view::npos) return written;
    const std::size_t close = formula.find(']', open);
    if (close == std::string_view::npos)
      throw std::invalid_argument(fmt::format("'{}' has no ']'", formula.substr(open)));
    const std::string_view within = formula.substr(open + 1, close - open - 1);
    const std::size_t digits = std::min(within.size(), within.find_first_not_of("0123456789"));
    const bool is_list = digits > 0 && within.substr(digits).starts_with("..");
    written += is_list ? spread_list(within) : fmt::format("[{}]", within);  // else the name of a row
    formula.remove_prefix(close + 1);
  }
}

}}  // namespace c3::studies
