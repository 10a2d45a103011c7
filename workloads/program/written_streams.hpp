#pragma once
/// Streams as people write them: with named events, and operations that only some ranks run.

#include <string>
#include <variant>
#include <vector>

#include "workloads/program/program.hpp"

namespace c3::inline workloads {

struct WrittenRecord {
  std::string event;

  bool operator==(const WrittenRecord&) const = default;
};
struct WrittenWait {
  std::string event;

  bool operator==(const WrittenWait&) const = default;
};

struct WrittenOperation {
  std::string name;  ///< as written in the experiment, e.g. "mlp.gate_up"
  std::variant<Operator, CollectiveCall, WrittenRecord, WrittenWait> work;
  std::vector<int> on = {};  ///< ranks that run it; empty: all, or a collective's group
  std::string range = {};    ///< of the timeline to which it belongs, e.g. "layer 3 forward"; empty: none

  bool operator==(const WrittenOperation&) const = default;
};

struct WrittenStream {
  std::string name;
  std::vector<WrittenOperation> operations;

  bool operator==(const WrittenStream&) const = default;
};

/// The program of \p streams on \p ranks ranks: a script for each set of ranks that run the same operations.
/// Events are numbered in the order of their records. \throws InfeasibleError as members_of
Program program_of(const std::vector<WrittenStream>& streams, int ranks);

}  // namespace c3::workloads
