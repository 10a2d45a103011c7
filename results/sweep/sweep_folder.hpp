#pragma once
/// The folder of a sweep: `manifest.json` says what its points are, `points/ID.json` is the result of one.
/// Every file is written beside its place and moved there whole, so that several processes may write at once
/// and any of them may be killed: a file is there complete, or it is not there. Its first line has the
/// SHA-256 of the others; a file that was edited, or cut short by copying, counts as not there or is refused.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/hdf5_column.hpp"
#include "results/summary_numbers.hpp"

namespace c3 { inline namespace results {

/// What is swept, point by point.
struct SweepManifest {
  std::string experiment;
  std::string file;          ///< the experiment's
  std::string command_line;  ///< command that makes the sweep again
  std::string definition;    ///< TOML with [sweep]
  std::string software_version, git_commit;
  std::vector<ColumnData> axes;       ///< swept keys, a row a point
  std::vector<std::string> ids;       ///< the points' ids
  std::vector<std::string> commands;  ///< commands that run one point alone, with its timeline

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
  std::string error;  ///< why a point failed, or what does not fit
  std::vector<PointNumber> numbers;
};

/// Names a point: a hash of what is simulated (configuration with its seed) and of the simulator's version.
std::string point_id(std::string_view resolved_configuration);

/// What an earlier command left in a folder.
struct EarlierSweep {
  SweepManifest manifest;
  bool is_intact = true;  ///< the file is what this version of c3sim wrote
};

class SweepFolder {
 public:
  explicit SweepFolder(std::filesystem::path path) : path_(std::move(path)) {}

  const std::filesystem::path& path() const { return path_; }

  void write_manifest(const SweepManifest& manifest) const;  ///< makes the folder \throws IoError
  /// Absent when there is none. \throws IoError for one that is damaged, was changed, or is of another version
  std::optional<SweepManifest> manifest() const;
  /// The same, also where it was changed or is of another version. \throws IoError for one that is damaged
  std::optional<EarlierSweep> earlier() const;

  /// Notes the manifest and the results of its points as inputs, which no output may replace.
  /// \throws IoError when one cannot be read
  void note_inputs(const SweepManifest& manifest) const;

  /// Removes what killed processes left half written among the points; see remove_stale_files().
  void remove_leftovers() const;

  /// Removes results of \p ids that are not as c3sim wrote them: cut short, edited, or of a version without
  /// checksums. \returns the files
  std::vector<std::filesystem::path> remove_changed(const std::vector<std::string>& ids) const;

  /// Whether there is a result, as c3sim wrote it, that is no failure.
  bool has(const std::string& id) const;
  bool has_failed(const std::string& id) const;
  /// The result, or else the failure; absent when there is neither. \throws IoError, also for a file that was
  /// changed
  std::optional<PointResult> read(const std::string& id) const;
  /// A result takes the place of an earlier failure. \throws IoError
  void write(const std::string& id, const PointResult& result) const;

 private:
  std::filesystem::path file_of(const std::string& id, bool failed) const;
  bool is_intact_point(const std::string& id, bool failed) const;

  std::filesystem::path path_;
};

}}  // namespace c3::results
