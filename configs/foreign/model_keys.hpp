#pragma once
/// Keys of a model's description that become keys of [model].

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "configs/foreign/json_keys.hpp"
#include "configs/toml/toml_text.hpp"

namespace c3 { inline namespace configs {

/// Notes in \p reading, which must outlive it, what becomes of each key.
class ModelKeys : public JsonKeys {
 public:
  using Names = std::initializer_list<std::string_view>;

  ModelKeys(FileReading& reading, const ForeignFile& file, const Json& object, std::string path)
      : JsonKeys(file, object, std::move(path)), reading_(reading) {}

  /// The key that was found last became \p key of [model]. \param value an integer, a flag, a text or a list of
  /// texts
  template <class T>
  void take(std::string_view key, const T& value) {
    take_from(last(), key, value);
  }
  template <class T>
  void take_from(std::string from, std::string_view key, const T& value) {
    reading_.taken.push_back({std::move(from), ours(key), toml_of(value)});
  }
  template <class T>
  void assume(std::string_view key, const T& value, std::string why) {
    reading_.assumed.push_back({ours(key), toml_of(value), std::move(why)});
  }
  void ignore(std::string from, std::string why) {
    reading_.ignored.push_back({std::move(from), std::move(why)});
  }
  void ignore_last(std::string why) { ignore(last(), std::move(why)); }

  /// Like integer(), and takes the value for \p key when it is there.
  std::optional<std::int64_t> take_integer(std::string_view key, Names names, std::int64_t least, double most) {
    const std::optional<std::int64_t> value = integer(names, least, static_cast<std::int64_t>(most));
    if (value) take(key, *value);
    return value;
  }
  /// \throws ConfigError where none is there
  std::int64_t need_integer(std::string_view key, Names names, double most) {
    if (const std::optional<std::int64_t> value = take_integer(key, names, 1, most)) return *value;
    throw error(*names.begin(), "is missing: model." + std::string(key) + " needs it");
  }

 private:
  static std::string ours(std::string_view key) { return "model." + std::string(key); }
  static std::string toml_of(std::string_view text) { return write_value(Node{std::string(text), {}}); }
  static std::string toml_of(std::same_as<bool> auto flag) { return flag ? "true" : "false"; }
  static std::string toml_of(std::int64_t number) { return std::to_string(number); }
  static std::string toml_of(std::span<const std::string> texts) {
    Array list;
    for (const std::string& text : texts)
      list.push_back(Node{text, {}});
    return write_value(Node{std::move(list), {}});
  }

  FileReading& reading_;
};

}}  // namespace c3::configs
