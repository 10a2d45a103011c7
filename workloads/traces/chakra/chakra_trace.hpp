#pragma once
/// \file
/// A Chakra execution trace of one rank: a graph of nodes with durations.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "workloads/traces/picoseconds.hpp"
#include "workloads/traces/text_pool.hpp"

namespace c3 { inline namespace traces {

/// Numbers of the format.
enum class ChakraType : std::uint8_t {
  invalid = 0,
  metadata = 1,
  memory_load = 2,
  memory_store = 3,
  compute = 4,
  send = 5,
  receive = 6,
  collective = 7
};

struct ChakraNode {
  std::uint64_t id = 0;
  std::uint64_t position = 0;  ///< in the file, from 0, for messages
  TextId name = 0;
  TextId shapes = 0;                   ///< of the inputs, as the file spells them: "[[4, 8], []]"
  TextId group = 0;                    ///< "pg_name"; empty: not recorded
  std::optional<std::int64_t> thread;  ///< "tid": of the host, or the stream of GPU work
  ChakraType type = ChakraType::invalid;
  bool is_on_host = false;                 ///< "is_cpu_op"
  bool says_where = false;                 ///< it has "is_cpu_op"
  std::optional<std::int64_t> comm_kind;   ///< "comm_type": 0 all-reduce, 2 all-gather, .. (kind_of())
  std::optional<std::int64_t> comm_bytes;  ///< "comm_size"
  std::optional<Picoseconds> start;        ///< since the host's start; whole microseconds
  Picoseconds duration;                    ///< exclusive: without that of nodes it ran
  std::uint32_t first_dependency = 0;      ///< in ChakraTrace::dependencies: first control, then data
  std::uint32_t control_dependencies = 0;
  std::uint32_t data_dependencies = 0;

  /// Type 7 alone is no sign: converters give it to operators of the host that call a collective as well.
  bool is_communication() const {
    const bool is_type =
        type == ChakraType::collective || type == ChakraType::send || type == ChakraType::receive;
    return is_type && (comm_bytes || (says_where && !is_on_host));
  }
};

struct ChakraTrace {
  std::string file;
  std::string schema;
  std::optional<int> rank;  ///< only if the file says so
  TextPool texts;
  std::vector<ChakraNode> nodes;            ///< by id
  std::vector<std::uint64_t> dependencies;  ///< ids

  std::span<const std::uint64_t> control_of(const ChakraNode& node) const {
    return std::span(dependencies).subspan(node.first_dependency, node.control_dependencies);
  }
  std::span<const std::uint64_t> data_of(const ChakraNode& node) const {
    return std::span(dependencies)
        .subspan(std::size_t{node.first_dependency} + node.control_dependencies, node.data_dependencies);
  }
};

/// all_reduce, all_gather, .., as elsewhere; send or recv for such a node; empty if it is not known.
std::string kind_of(const ChakraNode& node, const std::string& name);

}}  // namespace c3::traces
