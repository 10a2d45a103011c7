#pragma once
/// \file
/// A PyTorch Execution Trace (ET): the operators that one rank ran, with tensors, without times.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "workloads/traces/picoseconds.hpp"
#include "workloads/traces/text_pool.hpp"
#include "workloads/traces/trace_event.hpp"

namespace c3 { inline namespace traces {

/// A tensor that a node takes or gives. What it is, is known by (tensor, storage): a tensor's number can return
/// with another shape.
struct ExecutionTensor {
  std::int64_t tensor = 0;
  std::int64_t storage = 0;
  std::int64_t offset = 0;  ///< in the storage [elements]
  std::int64_t elements = 0;
  std::int64_t element_bytes = 0;
  TextId device = 0;  ///< "cuda:0", "cpu"; empty for an undefined tensor
  TextId type = 0;    ///< "float", "c10::Half", "long int"
  TextId dims = 0;    ///< "[4, 2048]"
};

/// Inputs or outputs of a node.
struct ExecutionArguments {
  OpDetails texts;                 ///< in the form that Kineto writes, so that either can stand for the other
  std::uint32_t first_tensor = 0;  ///< in ExecutionTrace::tensors, those of lists included
  std::uint32_t tensors = 0;
};

struct ExecutionNode {
  std::int64_t id = 0;
  std::int64_t parent = kUnknown;    ///< id of the node that it ran in (ctrl_deps); kUnknown: of none
  std::int64_t record_id = 0;        ///< rf_id, which Kineto calls "Record function id"; 0: none
  std::int64_t forward = 0;          ///< fw_parent: of a backward node the forward one; 0: none
  std::int64_t sequence = kUnknown;  ///< seq_id: autograd's number of a forward node and its backward one
  std::int64_t thread = 0;           ///< counted from 1 in order of appearance; not the system's
  std::int64_t forward_thread = 0;   ///< fw_tid
  std::uint64_t position = 0;        ///< in "nodes", for messages
  TextId name = 0;
  TextId schema = 0;  ///< "aten::mm(Tensor self, Tensor mat2) -> Tensor"; empty for what is no operator
  ExecutionArguments inputs;
  ExecutionArguments outputs;
  std::uint32_t collective = kNoIndex;  ///< in ExecutionTrace::collectives
  std::uint32_t gpu_work = kNoIndex;    ///< in ExecutionTrace::gpu_work
};

/// What `record_param_comms` says: c10d issued a collective, or made a stream wait for one.
struct ExecutionCollective {
  std::uint32_t node = kNoIndex;
  CollectiveArguments arguments;  ///< group: its name, which is the same on all ranks; empty in 1.0.1
  TextId group_address = 0;       ///< of schema 1.0.1, in place of a name: a number of this process only
  std::optional<std::int64_t> group_rank;  ///< of this rank in the group
  std::optional<std::int64_t> first_rank;  ///< of the group, in the job
  std::optional<std::int64_t> rank_stride;
  bool is_wait = false;
  std::uint32_t partner = kNoIndex;  ///< of a wait its issue, of an issue its first wait
};

/// A kernel, copy or memset that a linker appended from a Kineto trace ("et_plus").
struct ExecutionGpuWork {
  EventKind kind = EventKind::kernel;
  std::int64_t stream = kUnknown;
  Picoseconds duration;
};

/// `## process_group:init ##`, of schema 1.1.0 and later.
struct ExecutionGroup {
  std::string name;
  std::string description;
  std::vector<std::int64_t> ranks;  ///< of the job; empty: all of them
  std::int64_t size = 0;
};

struct ExecutionTrace {
  std::string file;
  std::string schema;       ///< "1.0.1", "1.1.0-chakra.0.0.4"
  std::string process;      ///< the system's number of it, as Kineto spells it
  std::optional<int> rank;  ///< nothing: the file does not say
  std::optional<int> world_size;
  TextPool texts;
  std::vector<ExecutionNode> nodes;  ///< by id, which is the order in which they began
  std::vector<ExecutionTensor> tensors;
  std::vector<ExecutionCollective> collectives;
  std::vector<ExecutionGpuWork> gpu_work;
  std::vector<ExecutionGroup> groups;
  std::vector<std::uint32_t> parents;  ///< [nodes] index; kNoIndex: it ran in no other node
  std::size_t missing_parents = 0;     ///< nodes whose parent is not in the file

  const std::string& name_of(const ExecutionNode& node) const { return texts.text(node.name); }
};

}}  // namespace c3::traces
