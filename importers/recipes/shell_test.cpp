#include "importers/recipes/shell_test.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace c3 { inline namespace importers {
namespace {

Decision known(bool is_so) { return is_so ? Decision::yes : Decision::no; }

std::optional<std::int64_t> shell_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Decision compared(std::string_view a, std::string_view sign, std::string_view b) {
  const bool is_pattern = b.find_first_of("*?[") != std::string_view::npos;
  if (sign == "=" || sign == "==") return is_pattern ? Decision::unknown : known(a == b);
  if (sign == "!=") return is_pattern ? Decision::unknown : known(a != b);
  const auto left = shell_number(a), right = shell_number(b);
  if (!left || !right) return Decision::unknown;
  if (sign == "-eq") return known(*left == *right);
  if (sign == "-ne") return known(*left != *right);
  if (sign == "-lt") return known(*left < *right);
  if (sign == "-le") return known(*left <= *right);
  if (sign == "-gt") return known(*left > *right);
  if (sign == "-ge") return known(*left >= *right);
  return Decision::unknown;
}

}  // namespace

bool is_test(std::string_view word) { return word == "[" || word == "[[" || word == "test"; }

Decision decided(std::span<const ShellWord> words) {
  if (words.empty() || !is_test(words.front().text)) return Decision::unknown;
  if (std::ranges::any_of(words, [](const ShellWord& word) { return !word.doubt.empty(); }))
    return Decision::unknown;
  words = words.subspan(1);
  if (!words.empty() && (words.back().text == "]" || words.back().text == "]]"))
    words = words.first(words.size() - 1);
  if (words.size() == 2 && words[0].text == "-n") return known(!words[1].text.empty());
  if (words.size() == 2 && words[0].text == "-z") return known(words[1].text.empty());
  if (words.size() == 3) return compared(words[0].text, words[1].text, words[2].text);
  return Decision::unknown;
}

}}  // namespace c3::importers
