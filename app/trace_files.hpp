#pragma once
/// The traces that a user names, read from files and folders.

#include <string>
#include <vector>

#include "workloads/traces/rank_record.hpp"

namespace c3::inline app {

struct TraceFiles {
  std::vector<Rank> ranks;         ///< in the order of reading
  std::vector<std::string> notes;  ///< files of folders that were left out, and why
};

/// Of a folder, the files that end in .json or .json.gz, in alphabetical order, without those that are PyTorch
/// execution traces. \throws IoError, TraceError
TraceFiles read_traces(const std::vector<std::string>& paths);

}  // namespace c3::app
