#pragma once
/// A mistake in a configuration file or a --set, with the place where it was written. Exit code 3.

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace c3 { inline namespace configs {

/// The place where a key or a value was written. Lines and columns count from 1, columns in code points.
/// For the n-th --set the file is "--set" and the line is n. Line 0: nowhere in the file, as a default.
struct Origin {
  std::shared_ptr<const std::string> file;
  std::uint32_t line = 1;
  std::uint32_t column = 1;
};

/// `file:line:column`, or the file alone when there is no line.
std::string place_of(const Origin& origin);

/// One line: `file:line:col: key: what is wrong, what is allowed, what may have been meant`.
class ConfigError : public std::runtime_error {
 public:
  /// \param list lines that follow the first, each after a line break.
  ConfigError(const Origin& at, std::string_view key, std::string_view message, std::string_view list = "");
  /// All of \p errors (at least one), a line each.
  explicit ConfigError(const std::vector<ConfigError>& errors);
};

}}  // namespace c3::configs
