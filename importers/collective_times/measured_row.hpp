#pragma once
/// One row of a table of measured times.

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "importers/collective_times/headed_table.hpp"
#include "importers/collective_times/measured_collective.hpp"

namespace c3 { inline namespace importers {

/// One measurement: which collective, and how long it took.
struct MeasuredRow {
  CollectiveTable table;  ///< without rows
  MeasuredCollective measured;
};

/// Finds the columns of a table once. Lives no longer than the table.
class MeasuredRowReader {
 public:
  /// \param op the operation, for a file that does not say it \throws ConfigError for a column that is missing,
  /// or an operation that nobody names
  MeasuredRowReader(const HeadedTable& file, std::optional<CollectiveKind> op);

  /// Absent for a row without a time, or of size 0. \throws ConfigError with the place of what is wrong
  std::optional<MeasuredRow> read(const HeadedTable::Row& row);

  bool has_op() const { return op_.has_value(); }
  bool has_ranks() const { return ranks_.has_value(); }
  bool has_nodes() const { return nodes_.has_value(); }

 private:
  using Column = std::optional<std::size_t>;

  /// A column of times.
  struct TimeColumn {
    std::size_t column;
    double seconds;  ///< length of its unit
    /// The member for its place; null: the column does not say which.
    std::optional<Seconds> MeasuredCollective::*place;
  };
  /// Columns that -I adds, of one place.
  struct SpreadColumns {
    Column least, most, p99, cv;
  };

  std::string_view cell(const HeadedTable::Row& row, Column column) const;
  CollectiveKind operation_of_file() const;
  std::optional<int> whole_remark(std::string_view key) const;
  std::optional<int> whole(const HeadedTable::Row& row, Column column, std::optional<int> otherwise) const;
  std::optional<int> ranks_of(const HeadedTable::Row& row) const;
  CollectiveKind kind_of(const HeadedTable::Row& row) const;
  void read_type(const HeadedTable::Row& row, MeasuredCollective& to) const;
  bool read_times(const HeadedTable::Row& row, MeasuredCollective& to) const;
  void set_place(const HeadedTable::Row& row, Seconds time, MeasuredCollective& to) const;
  std::optional<IterationSpread> spread_of(const HeadedTable::Row& row, const SpreadColumns& columns) const;
  void refuse_host_times(const HeadedTable::Row& row);

  const HeadedTable& file_;
  std::optional<CollectiveKind> of_all_;  ///< the operation where no column says it
  std::size_t size_ = 0;
  std::vector<TimeColumn> times_;
  Column op_, dtype_, redop_, ranks_, gpus_per_rank_, nodes_, hosts_, library_, in_place_, host_time_;
  SpreadColumns out_of_place_spread_, in_place_spread_;
  CollectiveTable of_file_;  ///< what holds for all rows
  bool refused_host_times_ = false;
};

}}  // namespace c3::importers
