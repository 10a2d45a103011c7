#pragma once
/// The traces that a user names, read from files and folders.

#include <string>
#include <vector>

#include "workloads/traces/chakra/chakra_trace.hpp"
#include "workloads/traces/execution/execution_trace.hpp"
#include "workloads/traces/execution/kineto_join.hpp"
#include "workloads/traces/execution/operator_list.hpp"
#include "workloads/traces/import_report.hpp"
#include "workloads/traces/rank_record.hpp"

namespace c3 { inline namespace app {

/// An execution trace and the Kineto trace of its rank.
struct JoinedRank {
  ExecutionTrace execution;
  KinetoJoin join;
  std::size_t rank = 0;  ///< position in TraceFiles::ranks
};

/// An operator list, and the file that it was read from.
struct OperatorListFile {
  std::string file;
  OperatorList list;
};

/// Traces of one run: Kineto traces, or execution traces alone, or Chakra traces alone; or operator lists.
struct TraceFiles {
  std::vector<Rank> ranks;                 ///< Kineto traces, completed from their execution traces; by rank
  std::vector<ExecutionJoin> joins;        ///< what was completed; by rank
  std::vector<JoinedRank> joined;          ///< ordered likewise
  std::vector<ExecutionTrace> executions;  ///< if there are no Kineto traces; by rank
  std::vector<ChakraTrace> chakras;        ///< listed in the order of reading
  std::vector<OperatorListFile> lists;     ///< listed in the order of reading
  std::vector<std::string> notes;          ///< what was left out, and why
};

/// Reads traces, whose formats are recognised by content. In a folder, all files are looked at in alphabetical
/// order. Files of a format that is not read are passed over, and damaged ones are left out with a note, unless
/// their names end like those of traces. tar archives are read member by member.
/// \param allow_missing accept some but not all ranks of the job
/// \throws IoError, TraceError, and TraceSetError for ranks that are there twice or missing, and for
/// formats that do not go together
TraceFiles read_traces(const std::vector<std::string>& paths, bool allow_missing);

}}  // namespace c3::app
