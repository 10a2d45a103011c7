#pragma once
/// Operator lists that c3sim import makes from traces, or from other lists.

#include <string>
#include <vector>

#include "app/import/trace_files.hpp"
#include "workloads/traces/execution/operator_times.hpp"

namespace c3 { inline namespace app {

struct OperatorListOptions {
  std::string file;  ///< file to write; empty: none
  bool obfuscate = false;
  std::vector<std::string> drop;  ///< classes
  int repeat = 1;
  int ranks = 0;  ///< 0: as many as there are

  bool shortens_or_lengthens() const { return !drop.empty() || repeat != 1 || ranks != 0; }
};

/// How much of a rank's recorded GPU work is that of listed operators.
struct RankCoverage {
  int rank = 0;
  OperatorCoverage coverage;
};

struct MadeList {
  OperatorList list;
  std::vector<RankCoverage> coverage;  ///< only with Kineto traces
};

/// The list of \p files with the changes that \p options ask for. Several lists are put behind each other.
/// \throws TraceSetError, and UsageError for files of which no list can be made
MadeList make_operator_list(const TraceFiles& files, const OperatorListOptions& options);

/// What a user should know of it, one note each.
std::vector<std::string> coverage_notes(const MadeList& made);

/// \throws IoError
void write_operator_list(const std::string& file, const OperatorList& list);

}}  // namespace c3::app
