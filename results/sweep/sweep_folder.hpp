#pragma once
/// The folder of a sweep: `manifest.json` says what its points are, `points/ID.json` is the result of one.
/// Every file is written beside its place and moved there whole, so that several processes may write at once
/// and any of them may be killed: a file is there complete, or it is not there.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/hdf5_column.hpp"
#include "results/summary_numbers.hpp"

namespace c3::inline results {

/// What is swept, point by point.
struct SweepManifest {
  std::string experiment;
  std::string file;          ///< the experiment's
  std::string command_line;  ///< that makes the sweep again
  std::string definition;    ///< TOML with [sweep]
  std::string software_version, git_commit;
  std::vector<ColumnData> axes;       ///< swept keys, a row a point
  std::vector<std::string> ids;       ///< of the points
  std::vector<std::string> commands;  ///< that run one point alone, with its timeline

  std::size_t points() const { return ids.size(); }
};

enum class PointStatus { ok, out_of_memory, failed };
std::string_view name_of(PointStatus status);

/// A number of one strategy.
struct PointNumber {
  std::string strategy, name;
  std::string units, long_name;  ///< times are in us
  double value = 0;
};

/// \p number of \p strategy.
PointNumber point_number(const std::string& strategy, SummaryNumber number);

/// What came out of a point.
struct PointResult {
  PointStatus status = PointStatus::ok;
  std::string error;  ///< of a failed one, or what does not fit
  std::vector<PointNumber> numbers;
};

/// Names a point: a hash of what is simulated (configuration with its seed) and of the simulator's version.
std::string point_id(std::string_view resolved_configuration);

class SweepFolder {
 public:
  explicit SweepFolder(std::filesystem::path path) : path_(std::move(path)) {}

  const std::filesystem::path& path() const { return path_; }

  void write_manifest(const SweepManifest& manifest) const;  ///< makes the folder \throws IoError
  std::optional<SweepManifest> manifest() const;             ///< absent when there is none \throws IoError

  /// Notes the manifest and the results of its points as inputs, which no output may replace.
  /// \throws IoError when one cannot be read
  void note_inputs(const SweepManifest& manifest) const;

  /// Removes what killed processes left half written among the points; see remove_stale_files().
  void remove_leftovers() const;

  /// Whether there is a whole result that is no failure. A file that was cut short, as by copying, is none.
  bool has(const std::string& id) const;
  bool has_failed(const std::string& id) const;
  /// The result, or else the failure; absent when there is neither. \throws IoError
  std::optional<PointResult> read(const std::string& id) const;
  /// A result takes the place of an earlier failure. \throws IoError
  void write(const std::string& id, const PointResult& result) const;

 private:
  std::filesystem::path file_of(const std::string& id, bool failed) const;

  std::filesystem::path path_;
};

}  // namespace c3::results
