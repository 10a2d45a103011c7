#pragma once
/// The HDF5 file of one run. It is written beside its place under a temporary name and moved there whole, so
/// that under the final name there is either the complete result or what was there before.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "results/hdf5_column.hpp"
#include "results/hdf5_handle.hpp"
#include "workloads/execute/study.hpp"

namespace c3 {

/// What is needed to run the same again, and to understand what was run.
struct RunHeader {
  std::string experiment;
  std::string config_resolved;  ///< TOML
  std::uint64_t seed = 0;
  std::string command_line;
  StudyConditions conditions = {};
  std::string gpu = {};                   ///< slug of the preset
  int ranks = 1;                          ///< GPUs of the system
  std::vector<std::string> streams = {};  ///< names, by the number that activities have
};

RunHeader run_header(const Experiment& experiment, std::string config_resolved, std::string command_line);

/// Every text once, in order of first use.
class NameTable {
 public:
  NameIndex index(std::string_view name);
  const std::vector<std::string>& names() const noexcept { return names_; }

 private:
  /// Looks up views without making strings of them.
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const noexcept { return std::hash<std::string_view>{}(name); }
  };

  std::unordered_map<std::string, NameIndex, Hash, std::equal_to<>> index_;
  std::vector<std::string> names_;
};

/// A file under a temporary name beside \p target: reserved at construction, removed unless it is renamed.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::filesystem::path target);  ///< \throws IoError
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile();

  const std::filesystem::path& path() const noexcept { return path_; }
  void append(std::string_view text);  ///< \throws IoError
  /// Waits until the content is on the disk, then gives it the target's name.
  void rename_to_target();  ///< \throws IoError

 private:
  std::filesystem::path target_;
  std::filesystem::path path_;
  int descriptor_ = -1;
  bool renamed_ = false;
};

class ResultFile {
 public:
  /// Makes the temporary file at once, so that a place that cannot be written is known before anything is
  /// simulated. \throws IoError
  ResultFile(const std::filesystem::path& target, const RunHeader& header);

  /// The group /strategies/<name>.
  H5Id add_strategy(const std::string& name);
  NameTable& names() noexcept { return names_; }

  /// Completes the file and moves it to its place. Every handle to its groups is closed before. \throws IoError
  void commit();

 private:
  TemporaryFile temporary_;  // outlives file_: removed after HDF5 has let go of it
  H5Id file_;
  H5Id strategies_;
  NameTable names_;
};

}  // namespace c3
