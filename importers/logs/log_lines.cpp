#include "importers/logs/log_lines.hpp"

#include <algorithm>
#include <array>

namespace c3 { inline namespace importers {
namespace {

constexpr std::string_view kSpaces = " \t\r";
constexpr std::string_view kDigits = "0123456789";

/// Without one space, which some launchers put behind their mark.
std::string_view without_space(std::string_view text) {
  if (text.starts_with(' ')) text.remove_prefix(1);
  return text;
}

std::optional<std::string_view> behind_tag(std::string_view line) {
  constexpr std::size_t kLongestTag = 160;  // a host's name is in it
  if (line.find_first_of("[<") != 0) return std::nullopt;
  for (const std::string_view stream : {"<stdout>:", "<stderr>:", "<stddiag>:"}) {
    const std::size_t at = line.substr(0, kLongestTag).find(stream);
    if (at != std::string_view::npos) return without_space(line.substr(at + stream.size()));
  }
  return std::nullopt;
}

std::optional<std::string_view> behind_rank(std::string_view line) {
  for (const std::string_view name : {"[rank", "[default"}) {
    if (!line.starts_with(name)) continue;
    const std::size_t end = line.find_first_not_of(kDigits, name.size());
    if (end != std::string_view::npos && end > name.size() && line.substr(end).starts_with("]:"))
      return without_space(line.substr(end + 2));
  }
  return std::nullopt;
}

std::optional<std::string_view> behind_task(std::string_view line) {
  const std::size_t first = line.find_first_not_of(' ');
  if (first == std::string_view::npos) return std::nullopt;
  const std::size_t end = line.find_first_not_of(kDigits, first);
  if (end == std::string_view::npos || end == first || !line.substr(end).starts_with(": ")) return std::nullopt;
  return line.substr(end + 2);
}

}  // namespace

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t first = line.find_first_not_of(kSpaces);
    if (first == std::string_view::npos) return words;
    line.remove_prefix(first);
    words.push_back(line.substr(0, line.find_first_of(kSpaces)));
    line.remove_prefix(words.back().size());
  }
}

bool has_word(const std::vector<std::string_view>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

std::string_view without_launcher(std::string_view line) {
  for (const auto& behind : {behind_tag, behind_rank, behind_task})
    if (const auto rest = behind(line)) return *rest;
  return line;
}

std::optional<std::string_view> text_between(std::string_view line, std::string_view before,
                                             std::string_view after) {
  const std::size_t at = line.find(before);
  if (at == std::string_view::npos) return std::nullopt;
  line.remove_prefix(at + before.size());
  if (after.empty()) return line;
  const std::size_t end = line.find(after);
  return end == std::string_view::npos ? std::nullopt : std::optional(line.substr(0, end));
}

}}  // namespace c3::importers
