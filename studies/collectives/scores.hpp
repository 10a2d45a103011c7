#pragma once
/// How far a table's times are predicted, and what all tables come to.

#include <optional>
#include <span>
#include <vector>

#include "importers/collective_times/error_score.hpp"
#include "studies/collectives/table_run.hpp"

namespace c3 { inline namespace studies {

/// Of some rows of some tables.
class Errors {
 public:
  /// Adds the rows of \p table from kLargeFrom on when \p large, else those below.
  void add(const TableRun& table, bool large);

  std::optional<ErrorScore> score() const;  ///< every row counts alike; absent without rows
  /// The medians, over tables, of what each scores: tables with many rows count no more than others. Absent
  /// without rows.
  std::optional<ErrorScore> median_table() const;

 private:
  std::vector<std::vector<double>> tables_;  ///< signed errors in percent
};

/// The highest bus bandwidth of a table.
struct PeakScore {
  double measured = 0.0;  ///< GB/s
  double here = 0.0;      ///< GB/s
  double error() const;   ///< percent
};

/// Of rows from kLargeFrom on. Absent without any.
std::optional<PeakScore> peak_of(const TableRun& table);

}}  // namespace c3::studies
