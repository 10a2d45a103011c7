#pragma once
/// A row of a file of cases, whose cells the texts of a study's card name.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "importers/collective_times/headed_table.hpp"
#include "studies/cases/formula.hpp"

namespace c3 { inline namespace studies {

/// Texts beside the cells that `${NAME}` may name.
using Places = std::map<std::string, std::string, std::less<>>;

/// Both must outlive it. What is wrong is a ConfigError at the row's place, of the card's key that its
/// functions are told.
class Cells {
 public:
  Cells(const HeadedTable& table, const HeadedTable::Row& row) : table_(table), row_(row) {}

  /// \p text with each `${column}` replaced by its cell, or by the text of that name in \p places. Absent where
  /// it names a cell that is empty. \throws ConfigError for a column that there is not
  std::optional<std::string> fill(std::string_view text, std::string_view key, const Places& places = {}) const;
  /// The same; empty where it names a cell that is empty.
  std::string text(std::string_view text, std::string_view key) const { return fill(text, key).value_or(""); }
  /// The formula that \p text is when it is filled. \throws ConfigError
  Formula formula(std::string_view text, std::string_view key) const;

  /// By column, of the cells that are numbers.
  std::map<std::string, double> numbers() const;

  Origin origin() const { return table_.place_of(row_, row_.text); }
  [[noreturn]] void fail(std::string_view key, const std::string& reason) const {
    throw ConfigError(origin(), key, reason);
  }

 private:
  std::string_view text_called(std::string_view name, std::string_view key, const Places& places) const;

  const HeadedTable& table_;
  const HeadedTable::Row& row_;
};

}}  // namespace c3::studies
