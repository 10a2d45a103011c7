#pragma once
/// A sweep as one table, a row a point: what was swept, and every number that came out.

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "files/temporary_file.hpp"
#include "results/sweep/sweep_folder.hpp"

namespace c3 { inline namespace results {

/// Columns of equal length: `id`, the swept keys, `status` (ok, out_of_memory, failed or missing), `error`,
/// `STRATEGY.NUMBER` of every number that any point has (NaN where a point has it not), `command`.
struct SweepTable {
  /// Attributes of the file: what was swept, by what.
  std::vector<std::pair<std::string, std::string>> attributes;
  std::vector<ColumnData> columns;
  std::size_t axes = 0;  ///< how many columns behind the first are swept keys

  std::size_t rows() const;
  const ColumnData* find(std::string_view column) const;  ///< nullptr when there is none
  const std::vector<std::string>& texts(std::string_view column) const;
  std::size_t count(std::string_view status) const;
};

/// Merges whatever is in the folder. The table is the same for the same results, in whatever order they came
/// and whoever made them. \throws IoError when it holds no sweep, or a damaged file
SweepTable merge_sweep(const SweepFolder& folder);

/// Writes group `points` of an HDF5 file. \throws IoError
void write_sweep_file(const std::filesystem::path& path, const SweepTable& table);
/// Writes the group into \p file, which is not renamed yet.
void write_sweep_file(TemporaryFile& file, const SweepTable& table);
SweepTable read_sweep_file(const std::filesystem::path& path);
/// Whether \p path is an HDF5 file of a sweep. \throws IoError when it is no HDF5 file of ours
bool is_sweep_file(const std::filesystem::path& path);

/// What sweep_csv() writes first: by these names of columns an earlier table is known.
inline constexpr TableHeader kSweepCsvHeader{.begins = "id,", .ends = ",command", .has = ",status,error,"};
/// With a header; what is absent is empty.
std::string sweep_csv(const SweepTable& table);

}}  // namespace c3::results
