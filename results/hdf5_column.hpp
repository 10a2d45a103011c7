#pragma once
/// A table is a group of equal-length one-dimensional datasets, its columns. Columns are written in chunks of
/// kChunkRows, shuffled and deflated, so that the memory a writer holds does not grow with the table.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "engine/observer.hpp"
#include "results/hdf5_handle.hpp"

namespace c3 { inline namespace results {

inline constexpr std::size_t kChunkRows = std::size_t{64} * 1024;

/// What a dataset says about itself. Units follow UDUNITS ("ps", "B/s", "1" when there is none).
struct ColumnSpec {
  std::string name;
  std::string units;
  std::string long_name;
  std::string indexes = {};  ///< dataset whose rows the integers are, relative to the column's group
  /// Off where most digits are noise: deflating then saves few bytes and takes most of the time.
  bool is_deflated = true;
};

/// Heading of the column in a CSV file, with its unit, such as start_ps or algbw_B_per_s. Units that are no
/// word, and none, are left out.
std::string csv_heading(const ColumnSpec& spec);

/// Row of /names, where every text of the file is stored once. A column of these says so in `indexes`.
enum class NameIndex : std::uint32_t {};
inline constexpr const char* kNames = "/names";
/// Name of every stream of the experiment.
inline constexpr const char* kStreams = "/streams";
/// Root attributes of a run that was interrupted: why, and the strategies that it lacks, with commas between.
inline constexpr const char* kIncomplete = "incomplete";
inline constexpr const char* kMissingStrategies = "missing_strategies";

/// A column that grows at its end. T is std::int32_t, std::int64_t, double, NameIndex or an enum of
/// engine/observer.hpp.
template <class T>
class Column {
 public:
  /// \p group outlives the column.
  Column(const H5Id& group, ColumnSpec spec) : group_(group), spec_(std::move(spec)) {
    if constexpr (std::is_same_v<T, NameIndex>) spec_.indexes = kNames;
  }

  void push(T value) {
    buffer_.push_back(value);
    if (buffer_.size() == kChunkRows) flush();
  }
  /// Writes what is buffered. The dataset is made by the first flush, so a short column is one short chunk.
  void flush();

 private:
  const H5Id& group_;
  ColumnSpec spec_;
  H5Id dataset_;
  std::uint64_t rows_ = 0;  ///< written
  std::vector<T> buffer_;
};

template <class... Columns>
void flush_all(Columns&... columns) {
  (columns.flush(), ...);
}

/// A column of one row.
template <class T>
void write_one(const H5Id& group, const ColumnSpec& spec, T value) {
  Column<T> column(group, spec);
  column.push(value);
  column.flush();
}

/// Writes \p texts as variable-length UTF-8; bytes that are not UTF-8 are replaced.
void write_texts(const H5Id& group, const ColumnSpec& spec, std::span<const std::string> texts);

/// A column read back. Integers of any width are std::int64_t, enums are the names of their values.
struct ColumnData {
  ColumnSpec spec;
  std::variant<std::vector<std::int64_t>, std::vector<double>, std::vector<std::string>> values;
};

/// Rows from \p first on, \p count of them or as many as there are.
struct RowRange {
  std::uint64_t first = 0;
  std::uint64_t count = std::numeric_limits<std::uint64_t>::max();
};

ColumnData read_column(const H5Id& group, const std::string& name, RowRange rows = {});

/// Checks that every row of a column is stored. A damaged column may claim more rows than there are, and HDF5
/// then makes them up. \throws IoError
void check_stored(const H5Id& group, const std::string& name);

/// \returns the number of rows without reading them.
std::uint64_t column_length(const H5Id& group, const std::string& name);

}}  // namespace c3::results
