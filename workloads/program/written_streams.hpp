#pragma once
/// Streams as people write them: with named events, and operations that only some ranks run.

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "workloads/program/program.hpp"

namespace c3 { inline namespace workloads {

struct WrittenRecord {
  std::string event;

  bool operator==(const WrittenRecord&) const = default;
};
struct WrittenWait {
  std::string event;

  bool operator==(const WrittenWait&) const = default;
};

/// Messages of one launch, within the groups of a communicator.
struct WrittenExchange {
  std::string over;
  std::vector<Message> messages;

  bool operator==(const WrittenExchange&) const = default;
};

struct WrittenOperation {
  std::string name;  ///< as written in the experiment, e.g. "mlp.gate_up"
  std::variant<Operator, CollectiveCall, TimedKernel, WrittenExchange, HostCopy, WrittenRecord, WrittenWait>
      work;
  std::vector<int> on = {};  ///< ranks that run it; empty: all, or a collective's group
  std::string range = {};    ///< of the timeline to which it belongs, e.g. "layer 3 forward"; empty: none

  bool operator==(const WrittenOperation&) const = default;
};

struct WrittenStream {
  std::string name;
  std::vector<WrittenOperation> operations;

  bool operator==(const WrittenStream&) const = default;
};

/// Ranks with streams of their own.
struct WrittenRanks {
  std::string name;
  std::vector<int> ranks;
  std::vector<WrittenStream> streams;
};

/// Groups of ranks by name, within which messages go.
using WrittenCommunicators = std::map<std::string, RankGroups>;

/// The program of \p ranks ranks, of which each is in at most one of \p written: a script for each of these.
/// Operations have no lists of ranks (`on`). \throws std::logic_error for an exchange over a communicator that
/// is not there
Program program_of(const std::vector<WrittenRanks>& written, const WrittenCommunicators& communicators,
                   int ranks);

/// The program of \p streams on \p ranks ranks: a script for each set of ranks that run the same operations.
/// Events are numbered in the order of their records. \throws InfeasibleError as members_of
Program program_of(const std::vector<WrittenStream>& streams, int ranks,
                   const WrittenCommunicators& communicators = {});

}}  // namespace c3::workloads
