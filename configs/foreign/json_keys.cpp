#include "configs/foreign/json_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>

namespace c3 { inline namespace configs {
namespace {

Origin origin_at(const ForeignFile& file, std::size_t position) {
  const std::string_view before = std::string_view(file.text).substr(0, position);
  const std::size_t begin = before.rfind('\n');
  const std::size_t column = before.size() - (begin == std::string_view::npos ? 0 : begin + 1);
  return {std::make_shared<const std::string>(file.name),
          static_cast<std::uint32_t>(1 + std::ranges::count(before, '\n')),
          static_cast<std::uint32_t>(column + 1)};
}

/// Words of Python that no JSON has give way to null; every other character keeps its place.
std::string without_words_of_python(std::string text) {
  constexpr std::array<std::string_view, 3> kWords = {"-Infinity", "Infinity", "NaN"};
  bool is_quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_quoted && text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      is_quoted = !is_quoted;
    } else if (!is_quoted) {
      const auto* const word =
          std::ranges::find_if(kWords, [&](std::string_view w) { return text.compare(i, w.size(), w) == 0; });
      if (word == kWords.end()) continue;
      // "NaN" has three characters: a zero, which no key reads, stands for it.
      const std::string_view value = word->size() < 4 ? "0" : "null";
      text.replace(i, word->size(), std::string(value) + std::string(word->size() - value.size(), ' '));
      i += word->size() - 1;
    }
  }
  return text;
}

}  // namespace

Json parse_foreign_json(const ForeignFile& file) {
  const Origin whole{std::make_shared<const std::string>(file.name), 1, 1};
  try {
    Json json = Json::parse(without_words_of_python(file.text));
    if (!json.is_object()) throw ConfigError(whole, "file", "must be an object of JSON, {..}");
    return json;
  } catch (const JsonSyntaxError& error) {
    throw ConfigError(
        {whole.file, static_cast<std::uint32_t>(error.line), static_cast<std::uint32_t>(error.column)}, "file",
        "is not JSON from here on");
  } catch (const JsonError& error) {
    throw ConfigError(whole, "file", error.what());
  }
}

std::optional<JsonKeys::Found> JsonKeys::find(std::initializer_list<std::string_view> names) {
  std::optional<Found> found;
  for (const std::string_view name : names) {
    if (!object_.contains(name)) continue;
    read_.emplace(name);
    const Json& value = object_[name];
    if (value.is_null() || found) continue;
    found = Found{name, &value};
    last_ = name;
  }
  return found;
}

std::optional<std::int64_t> JsonKeys::integer(std::initializer_list<std::string_view> names, std::int64_t least,
                                              std::int64_t most) {
  const std::optional<Found> found = find(names);
  if (!found) return std::nullopt;
  if (!found->value->is_integer()) throw error(found->name, "must be an integer");
  const double value = found->value->number();
  if (value < static_cast<double>(least) || value > static_cast<double>(most))
    throw error(found->name, fmt::format("must be from {} to {} (it is {:.0f})", least, most, value));
  return found->value->integer();
}

std::optional<bool> JsonKeys::flag(std::initializer_list<std::string_view> names) {
  const std::optional<Found> found = find(names);
  if (!found) return std::nullopt;
  if (*found->value == Json(true)) return true;
  if (*found->value == Json(false)) return false;
  throw error(found->name, "must be true or false");
}

std::optional<std::string> JsonKeys::text(std::initializer_list<std::string_view> names) {
  const std::optional<Found> found = find(names);
  if (!found) return std::nullopt;
  if (!found->value->is_text()) throw error(found->name, "must be a text");
  return found->value->text();
}

std::optional<std::vector<std::string>> JsonKeys::texts(std::initializer_list<std::string_view> names) {
  const std::optional<Found> found = find(names);
  if (!found) return std::nullopt;
  const bool are_texts =
      found->value->is_array() && std::ranges::all_of(found->value->elements(), &Json::is_text);
  if (!are_texts) throw error(found->name, "must be a list of texts");
  return found->value->texts();
}

std::vector<std::string> JsonKeys::keys(bool are_read) const {
  std::vector<std::string> keys;
  for (const Json::Member& member : object_.members())
    if (read_.contains(member.key) == are_read) keys.push_back(member.key);
  return keys;
}

ConfigError JsonKeys::error(std::string_view key, std::string_view message) const {
  std::size_t position = 0;
  if (!path_.empty()) position = file_.text.find('"' + path_ + '"');
  if (position != std::string::npos) position = file_.text.find('"' + std::string(key) + '"', position);
  return {origin_at(file_, position == std::string::npos ? 0 : position), dotted(key), message};
}

}}  // namespace c3::configs
