#pragma once
/// \file
/// What was found in traces that are graphs of nodes, without a recording of when things ran on a GPU: PyTorch
/// execution traces and Chakra traces.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "workloads/traces/picoseconds.hpp"

namespace c3 { inline namespace traces {

/// One file.
struct NodeGraphFile {
  std::optional<int> rank;
  std::string file;
  std::string schema;  ///< as the file spells it; empty: it does not say
  std::size_t nodes = 0;
  std::size_t threads = 0;  ///< 0: the file does not say
};

/// Nodes that are alike, over all files.
struct NodeCount {
  std::string name;
  std::size_t count = 0;
  std::size_t with_shapes = 0;
  Picoseconds time;  ///< sum of durations; 0 where nodes have none
};

/// GPU operators of one name with the same inputs, over all files.
struct OperatorShapes {
  std::string work;  ///< class
  std::string name;
  std::string dims;   ///< of the inputs, as in OpDetails; as the file spells them in Chakra traces
  std::string types;  ///< of the inputs, as in OpDetails; empty in Chakra traces
  std::size_t count = 0;
  Picoseconds time;
};

/// Collectives that are alike, over all files.
struct NodeCollective {
  std::string kind;
  std::string dtype;
  std::string group;   ///< name or number, as recorded; empty: not recorded
  std::string splits;  ///< of an all-to-all with unequal shares
  std::optional<std::int64_t> bytes;
  std::optional<std::int64_t> group_size;
  std::size_t count = 0;
  Picoseconds time;
};

struct DependencyCount {
  std::string dependency;
  std::size_t count = 0;
};

/// Time by what it is spent on, and how much of it is on the longest path through the dependencies.
struct NodeTimes {
  Picoseconds host;
  Picoseconds compute;        ///< of the GPU
  Picoseconds communication;  ///< of the GPU or the network
  Picoseconds sum() const { return host + compute + communication; }
};

struct NodeGraphReport {
  std::string format;  ///< "PyTorch execution trace"
  std::vector<NodeGraphFile> files;
  std::vector<NodeCount> kinds;
  std::vector<NodeCount> operators;         ///< by class, of operators that do GPU work
  std::vector<OperatorShapes> shapes;       ///< by time, then by count; without collectives
  std::vector<NodeCollective> collectives;  ///< by bytes in all, largest first
  std::size_t collectives_issued = 0;
  std::size_t collectives_specified = 0;  ///< kind, bytes and group are known
  std::size_t waits = 0;
  std::size_t waits_paired = 0;
  std::vector<DependencyCount> dependencies;
  bool has_times = false;             ///< else every time of a row is unknown
  std::optional<NodeTimes> times;     ///< of all nodes; only formats that have durations
  std::optional<NodeTimes> critical;  ///< of the nodes on the critical path of the file with the longest one
  std::optional<NodeTimes> busiest;   ///< of the nodes of one thread or stream, the one with the largest sum
};

}}  // namespace c3::traces
