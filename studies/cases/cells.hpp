#pragma once
/// A row of a file of cases, whose cells the texts of a study's card name.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "importers/collective_times/headed_table.hpp"
#include "studies/cases/formula.hpp"

namespace c3 { inline namespace studies {

/// Every number by its name. \throws InfeasibleError where there are none, with what c3sim says.
using NumberSource = std::function<std::map<std::string, double>()>;

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
  /// The cell of \p column; empty where there is no such column.
  std::string_view find(std::string_view column) const;
  /// The formula that \p text is when it is filled, with nothing for empty cells. \throws ConfigError
  Formula formula(std::string_view text, std::string_view key) const;

  /// Values of the cells that are numbers, by column, as formulas name it. A text with numbers, as "37556
  /// (36108)", has them as `COLUMN.0`, `COLUMN.1`.
  std::map<std::string, double> numbers() const;

  Origin origin() const { return table_.place_of(row_, row_.text); }
  [[noreturn]] void fail(std::string_view key, const std::string& reason) const {
    throw ConfigError(origin(), key, reason);
  }

 private:
  /// Filled with nothing for empty cells, and whether there was none.
  std::pair<std::string, bool> filled(std::string_view text, std::string_view key, const Places& places) const;
  std::string_view text_called(std::string_view name, std::string_view key, const Places& places) const;

  const HeadedTable& table_;
  const HeadedTable::Row& row_;
};

/// "a=1; b=2" as two.
std::vector<std::string> listed(std::string_view text);

}}  // namespace c3::studies
