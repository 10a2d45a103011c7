#pragma once
/// An experiment that is written from files of other tools, each line with where it comes from.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "configs/foreign/file_reading.hpp"

namespace c3 { inline namespace importers {

class ExperimentDraft {
 public:
  ExperimentDraft() = default;
  /// What \p readings take out of their files; where none of them does, what they assume. When several files
  /// say the same key, the first one's value counts.
  explicit ExperimentDraft(std::span<const FileReading> readings);

  bool has(std::string_view key) const;
  /// The text that \p key has, without its quotation marks; empty where it has none.
  std::string text(std::string_view key) const;
  /// Adds \p key, dotted, unless it is there. \param value as TOML writes it \param comment a clause
  void put(std::string_view key, std::string value, std::string comment);
  /// Adds or replaces the key.
  void replace(std::string_view key, std::string value, std::string comment);
  /// A key that only opens its table: "strategy.default".
  void put_table(std::string_view key);
  /// A line of comment before all keys.
  void head(std::string line) { head_.push_back(std::move(line)); }

  /// The experiment; behind it what of \p readings is neither taken nor modelled.
  std::string toml(std::span<const FileReading> readings = {}) const;

 private:
  struct Line {
    std::string table, key, value, comment;
  };

  std::vector<std::string> tables() const;
  /// Those of \p table, after what \p text has.
  void append_lines(std::string& text, const std::string& table) const;

  std::vector<std::string> head_;
  std::vector<Line> lines_;  ///< a line without a key opens its table
};

/// The lists of \p readings as one JSON object.
std::string lists_json(std::span<const FileReading> readings);

}}  // namespace c3::importers
