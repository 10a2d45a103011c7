#include "configs/config_error.hpp"

#include <fmt/format.h>

namespace c3 {
namespace {

/// Quoted keys and strings of a file may hold line breaks; an error stays on one line.
std::string one_line(std::string text) {
  for (char& c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 0x20 || code == 0x7f) c = '?';
  }
  return text;
}

}  // namespace

ConfigError::ConfigError(const Origin& at, std::string_view key, std::string_view message)
    : std::runtime_error(one_line(
          fmt::format("{}:{}:{}: {}: {}", at.file ? *at.file : "", at.line, at.column, key, message))) {}

}  // namespace c3
