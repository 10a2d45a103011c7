#pragma once
/// c3sim new: an experiment from the files that somebody has.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "configs/foreign/file_reading.hpp"
#include "configs/foreign/model_file.hpp"
#include "importers/user_files/formats.hpp"

namespace c3 { inline namespace app {

struct NewRequest {
  std::string model;                           ///< file; empty: none
  std::vector<std::string> recipes, machines;  ///< files
  std::string system;                          ///< preset; empty: the machine's
  std::string fabric;
  std::optional<std::int64_t> nodes = std::nullopt;
  std::optional<std::int64_t> sequence = std::nullopt;
  double leave_out = kUsualLeaveOut;  ///< share of parameters or of flops that need not be modelled
  std::string output;                 ///< empty: standard output
  bool explains_files = false;
};

struct NewExperiment {
  std::vector<FileReading> readings;
  std::string toml;
  bool fits = true;  ///< whether it fits in the memory of the GPUs
  std::optional<std::int64_t> fits_on =
      std::nullopt;  ///< so many nodes, where it does not fit on those asked for
};

/// Reads the files of \p request, writes an experiment, and looks for the recomputation with which it fits.
/// \throws ConfigError, for what c3sim cannot model as well; IoError; UsageError
NewExperiment new_experiment(const NewRequest& request);

/// Reads \p path as a file of \p role. \throws ConfigError that says what the file is instead
FileReading read_user_file(const std::string& path, FileRole role, std::int64_t sequence);

}}  // namespace c3::app
