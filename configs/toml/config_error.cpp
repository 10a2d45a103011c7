#include "configs/toml/config_error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace c3 { inline namespace configs {
namespace {

/// Quoted keys and strings of a file may hold line breaks; an error stays on one line.
std::string one_line(std::string text) {
  for (char& c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 0x20 || code == 0x7f) c = '?';
  }
  return text;
}

/// Begin and end of a long text: a key or value may be as large as a file.
std::string shortened(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  constexpr std::size_t kEnd = 20;
  return fmt::format("{}..{} ({} characters)", text.substr(0, most - kEnd), text.substr(text.size() - kEnd),
                     text.size());
}

constexpr std::size_t kLongestKey = 200;
constexpr std::size_t kLongestMessage = 1500;

/// Editors expect a line and a column.
Origin somewhere(const Origin& at) { return {at.file, std::max(at.line, 1U), std::max(at.column, 1U)}; }

}  // namespace

std::string place_of(const Origin& origin) {
  const std::string file = origin.file ? one_line(*origin.file) : "";
  return origin.line == 0 ? file : fmt::format("{}:{}:{}", file, origin.line, origin.column);
}

ConfigError::ConfigError(const Origin& at, std::string_view key, std::string_view message,
                         std::string_view list)
    : std::runtime_error(
          one_line(fmt::format("{}: {}: {}", place_of(somewhere(at)), shortened(key, kLongestKey),
                               shortened(message, kLongestMessage))) +
          std::string(list)) {}

ConfigError::ConfigError(const std::vector<ConfigError>& errors)
    : std::runtime_error([&] {
        std::string lines;
        for (const ConfigError& error : errors)
          lines += fmt::format("{}{}", lines.empty() ? "" : "\n", error.what());
        return lines;
      }()) {}

}}  // namespace c3::configs
