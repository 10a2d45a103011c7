#include "workloads/traces/file_rank.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "base/small_letters.hpp"

namespace c3 { inline namespace traces {
namespace {

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }
bool is_between(char letter) { return letter == '_' || letter == '-' || letter == '.' || letter == '='; }

std::optional<int> number_in(std::string_view digits) {
  int number = 0;
  constexpr int kMostRanks = 10'000'000;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size() || number > kMostRanks)
    return std::nullopt;
  return number;
}

/// The number behind the last "rank" that a number follows.
std::optional<int> behind_rank(std::string_view path) {
  const std::string small = in_small_letters(path);
  constexpr std::string_view kWord = "rank";
  for (std::size_t at = small.rfind(kWord); at != std::string::npos;
       at = at == 0 ? std::string::npos : small.rfind(kWord, at - 1)) {
    std::size_t from = at + kWord.size();
    if (from < small.size() && is_between(small[from])) ++from;
    std::size_t end = from;
    while (end < small.size() && is_digit(small[end]))
      ++end;
    if (end > from) return number_in(path.substr(from, end - from));
  }
  return std::nullopt;
}

}  // namespace

std::optional<int> rank_in_name(std::string_view path) {
  if (const std::optional<int> rank = behind_rank(path)) return rank;
  std::string_view name = path.substr(path.find_last_of('/') + 1);
  constexpr std::array<std::string_view, 6> kEndings{".gz", ".tgz", ".tar", ".json", ".et", ".pb"};
  for (bool found = true; found;) {
    const auto* const ending =
        std::ranges::find_if(kEndings, [&](std::string_view text) { return name.ends_with(text); });
    found = ending != kEndings.end();
    if (found) name.remove_suffix(ending->size());
  }
  std::size_t from = name.size();
  while (from > 0 && is_digit(name[from - 1]))
    --from;
  if (from == name.size() || (from > 0 && !is_between(name[from - 1]))) return std::nullopt;
  const bool is_version = from > 1 && name[from - 1] == '.' && is_digit(name[from - 2]);  // 1.0.3
  if (is_version) return std::nullopt;
  return number_in(name.substr(from));
}

}}  // namespace c3::traces
