#include "configs/toml/nesting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "configs/toml/config_error.hpp"

namespace c3 { inline namespace configs {
namespace {

constexpr std::string_view kQuotes = "\"'";

/// \returns where the comment or string that begins at \p start ends; one past its last character.
std::size_t end_of_comment(std::string_view text, std::size_t start) {
  return std::min(text.find('\n', start), text.size());
}

std::size_t end_of_string(std::string_view text, std::size_t start) {
  const char quote = text[start];
  const std::string triple(3, quote);
  const bool is_multiline = text.substr(start).starts_with(triple);
  const std::string_view close = is_multiline ? std::string_view(triple) : text.substr(start, 1);
  for (std::size_t i = start + close.size(); i < text.size(); ++i) {
    const bool is_escape = quote == '"' && text[i] == '\\';
    if (is_escape) {
      ++i;
    } else if (text.substr(i).starts_with(close)) {
      return i + close.size();
    } else if (text[i] == '\n' && !is_multiline) {
      return i;  // never closed
    }
  }
  return text.size();
}

Origin place_in(std::string_view text, std::size_t offset, const std::shared_ptr<const std::string>& file) {
  const std::string_view before = text.substr(0, offset);
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  const auto starts_character = [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; };
  const auto line = std::ranges::count(before, '\n') + 1;
  const auto column = std::ranges::count_if(before.substr(line_start), starts_character) + 1;
  return {file, static_cast<std::uint32_t>(line), static_cast<std::uint32_t>(column)};
}

}  // namespace

void refuse_deep_nesting(std::string_view text, const std::shared_ptr<const std::string>& file) {
  std::size_t parts = 1;
  int brackets = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '#') {
      i = end_of_comment(text, i) - 1;
    } else if (kQuotes.find(c) != std::string_view::npos) {
      i = end_of_string(text, i) - 1;
    } else if (c == '.') {
      ++parts;
    } else if (std::string_view("=,[]{}\n").find(c) != std::string_view::npos) {
      parts = 1;
      if (c == '[' || c == '{') ++brackets;
      if (c == ']' || c == '}') --brackets;
    }
    if (parts > kMostKeyParts) {
      throw ConfigError(place_in(text, i, file), "syntax",
                        fmt::format("a key has at most {} parts", kMostKeyParts));
    }
    if (brackets > kDeepestBrackets) {
      throw ConfigError(place_in(text, i, file), "syntax",
                        fmt::format("arrays and tables nest at most {} deep", kDeepestBrackets));
    }
  }
}

}}  // namespace c3::configs
