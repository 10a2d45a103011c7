#pragma once
/// Operator lists that c3sim import makes from traces, or from other lists.

#include <string>
#include <vector>

#include "app/trace_files.hpp"

namespace c3::inline app {

struct OperatorListOptions {
  std::string file;  ///< to write; empty: none
  bool obfuscate = false;
  std::vector<std::string> drop;  ///< classes
  int repeat = 1;
  int ranks = 0;  ///< as many as there are, if 0
};

/// Writes the list of \p files with the changes that \p options ask for. Several lists are put behind each
/// other. \returns what a user should know of it, one note each. \throws IoError, TraceSetError, and UsageError
/// for files of which no list can be made
std::vector<std::string> write_operator_list(const TraceFiles& files, const OperatorListOptions& options);

}  // namespace c3::app
