#pragma once
/// An object of JSON that is read key by key, so that what nobody asked for is known.

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "configs/foreign/file_reading.hpp"
#include "configs/toml/config_error.hpp"

namespace c3 { inline namespace configs {

/// The text of \p file as JSON. The words Infinity and NaN, which Python writes, are read as null.
/// \throws ConfigError with line and column
Json parse_foreign_json(const ForeignFile& file);

/// Keys and values of one object. \p object and \p file must outlive it.
class JsonKeys {
 public:
  /// \param path of the object in the file, dotted; empty for the outermost
  JsonKeys(const ForeignFile& file, const Json& object, std::string path = {})
      : file_(file), object_(object), path_(std::move(path)) {}

  /// A key that is there and not null.
  struct Found {
    std::string_view name;
    const Json* value;
  };
  /// The first of \p names that is there; it counts as read.
  std::optional<Found> find(std::initializer_list<std::string_view> names);

  // Each reads the first of several names, and is absent where none is there. \throws ConfigError
  std::optional<std::int64_t> integer(std::initializer_list<std::string_view> names, std::int64_t least,
                                      std::int64_t most);
  std::optional<bool> flag(std::initializer_list<std::string_view> names);
  std::optional<std::string> text(std::initializer_list<std::string_view> names);
  std::optional<std::vector<std::string>> texts(std::initializer_list<std::string_view> names);

  /// The name by which the last key was found, as the file has it.
  std::string last() const { return dotted(last_); }
  /// The full name of \p key in the file.
  std::string dotted(std::string_view key) const {
    return path_.empty() ? std::string(key) : path_ + '.' + std::string(key);
  }
  /// Keys that nobody has read, and those that somebody has, in the order of the file.
  std::vector<std::string> unread() const { return keys(false); }
  std::vector<std::string> read() const { return keys(true); }
  /// At the first place of the file that has \p key behind its path.
  ConfigError error(std::string_view key, std::string_view message) const;
  ConfigError error_at_last(std::string_view message) const { return error(last_, message); }

 private:
  std::vector<std::string> keys(bool are_read) const;

  const ForeignFile& file_;
  const Json& object_;
  std::string path_, last_;
  std::set<std::string, std::less<>> read_;
};

}}  // namespace c3::configs
