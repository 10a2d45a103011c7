#pragma once
/// The HDF5 file of one run. It is written beside its place under a temporary name, sealed with a checksum of
/// all its bytes, and moved there whole: under the final name there is either the complete result or what was
/// there before.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "files/temporary_file.hpp"
#include "results/hdf5_column.hpp"
#include "results/hdf5_handle.hpp"
#include "workloads/analysis/study.hpp"

namespace c3 { inline namespace results {

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

class ResultFile {
 public:
  /// Makes the temporary file at once, so that a place that cannot be written is known before anything is
  /// simulated. \throws IoError
  ResultFile(const std::filesystem::path& target, const RunHeader& header);

  /// The group /strategies/<name>.
  H5Id add_strategy(const std::string& name);
  /// Removes what was written of a strategy whose run was cut short. Every handle to its group is closed
  /// before.
  void remove_strategy(const std::string& name);
  NameTable& names() noexcept { return names_; }

  /// States in the file that strategies are missing, and why ("interrupted"). Readers show it:
  /// ResultReader::incomplete().
  void mark_incomplete(std::string_view reason, std::span<const std::string> missing);

  /// Completes the file and moves it to its place. Every handle to its groups is closed before. \throws IoError
  void commit();

 private:
  TemporaryFile temporary_;  // outlives file_: removed after HDF5 has let go of it
  H5Id file_;
  H5Id strategies_;
  NameTable names_;
};

}}  // namespace c3::results
