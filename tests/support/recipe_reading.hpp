#pragma once
/// What a reader of recipes makes of a text of a test's own.

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "configs/jobs/experiment_reader.hpp"
#include "configs/toml/toml_text.hpp"
#include "importers/user_files/formats.hpp"

namespace c3::test {

using ReadsFile = FileReading (*)(const ForeignFile&);

class RecipeReading {
 public:
  explicit RecipeReading(FileReading reading) : reading_(std::move(reading)) {}

  const FileReading& whole() const { return reading_; }

  std::string taken(std::string_view key) const { return value_in(reading_.taken, key); }
  std::string assumed(std::string_view key) const { return value_in(reading_.assumed, key); }
  /// Taken or assumed; empty: neither.
  std::string value(std::string_view key) const {
    const std::string given = taken(key);
    return given.empty() ? assumed(key) : given;
  }
  /// Why a key of the file changes nothing; empty: it does.
  std::string ignored(std::string_view from) const {
    for (const IgnoredKey& key : reading_.ignored)
      if (key.from == from) return key.why;
    return "";
  }
  bool has_fact(std::string_view part) const {
    return std::ranges::any_of(reading_.facts,
                               [&](const std::string& fact) { return fact.find(part) != std::string::npos; });
  }
  /// Whether the file's key is in one of the two lists.
  bool accounts_for(std::string_view from) const {
    const bool is_taken = std::ranges::find(reading_.taken, from, &TakenKey::from) != reading_.taken.end();
    return is_taken || std::ranges::find(reading_.ignored, from, &IgnoredKey::from) != reading_.ignored.end();
  }
  /// No key of ours may be given twice.
  bool gives_each_key_once() const {
    std::set<std::string> keys;
    for (const TakenKey& key : reading_.taken)
      if (!keys.insert(key.key).second) return false;
    for (const AssumedKey& key : reading_.assumed)
      if (!keys.insert(key.key).second) return false;
    return true;
  }
  /// The experiment that the keys make, with \p more lines. \throws ConfigError where it is none
  void load(const std::string& more) const {
    std::string text = "schema = 1\n" + more;
    for (const TakenKey& key : reading_.taken)
      text += key.key + " = " + key.value + "\n";
    for (const AssumedKey& key : reading_.assumed)
      text += key.key + " = " + key.value + "\n";
    text += "strategy.default.serial = false\n";
    ExperimentFile::read(parse_toml(text, "made.toml"), "made");
  }

 private:
  static std::string value_in(const auto& list, std::string_view key) {
    for (const auto& one : list)
      if (one.key == key) return one.value;
    return "";
  }

  FileReading reading_;
};

inline RecipeReading reading_of(ReadsFile read, const std::string& text) {
  return RecipeReading(read({"recipe", text}));
}

/// The mistakes that are found; empty: none.
inline std::string mistakes_of(ReadsFile read, const std::string& text) {
  try {
    read({"recipe", text});
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

/// Empty: no format recognises the text.
inline std::string_view name_of_format(std::string_view text) {
  const FileFormat* const format = format_of(text);
  return format == nullptr ? std::string_view() : format->name;
}

inline bool has_part(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// \p text with one change: bytes of any value, an end that is missing, or lines that are there twice.
inline std::string mutated(std::string text, std::mt19937& random) {
  const auto below = [&](std::size_t most) {
    return std::uniform_int_distribution<std::size_t>(0, most)(random);
  };
  if (text.empty()) return text;
  switch (below(4)) {
    case 0:
      return text.substr(0, below(text.size()));
    case 1: {
      const std::size_t begin = text.rfind('\n', below(text.size() - 1)) + 1;
      const std::string line = text.substr(begin, text.find('\n', begin) - begin + 1);
      return text.insert(begin, line);
    }
    case 2: {
      const std::size_t begin = below(text.size() - 1);
      return text.erase(begin, below(20));
    }
    default:
      for (std::size_t flips = below(4) + 1; flips > 0; --flips)
        text[below(text.size() - 1)] = static_cast<char>(below(255));
      return text;
  }
}

/// Reads 2,000 changes of \p text; anything but a ConfigError goes through to the test.
inline void read_mutations(ReadsFile read, const std::string& text) {
  std::mt19937 random(20'261'130);
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::string changed = mutated(text, random);
    format_of(changed);
    try {
      read({"recipe", changed});
    } catch (const ConfigError&) {
      ++refused;
    }
  }
  CHECK(refused > 0);
  CHECK(refused < 2000);
}

}  // namespace c3::test
