#pragma once
/// \file
/// What PyTorch's c10d recorded of collectives on the host: operators `record_param_comms`, one when a
/// collective is issued and one when a stream is made to wait for it.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "workloads/traces/trace_event.hpp"

namespace c3 { inline namespace traces {

/// A call of c10d. Empty texts and absent numbers were not recorded.
struct CollectiveIssue {
  std::uint32_t op = kNoIndex;  ///< in Trace::ops
  bool is_wait = false;
  std::string kind;  ///< all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, send, recv, barrier, ..
  std::string group;            ///< the name of the process group; in files before 2024 the address of it
  bool has_group_name = false;  ///< the group's name is the same on all ranks
  std::string dtype;            ///< c10's name
  std::string splits;           ///< "in > out" of an all-to-all with unequal shares
  std::optional<std::vector<std::int64_t>> in_splits;   ///< by rank of the group; empty: equal shares
  std::optional<std::vector<std::int64_t>> out_splits;  ///< of what is received
  std::optional<std::int64_t> sequence;
  std::optional<std::int64_t> group_size;
  std::optional<std::int64_t> in_elements;   ///< of one rank
  std::optional<std::int64_t> out_elements;  ///< of one rank
};

/// Sorted by start. Metadata are taken from the arguments of the operator, else from its concrete inputs and
/// dimensions and from the `nccl:` range in it, whose positions moved between versions: types decide, not
/// positions alone.
std::vector<CollectiveIssue> collective_issues(const Trace& trace);

/// The process group: its name with its ranks, because groups of different ranks may share a name. Empty: no
/// name.
std::string group_text(const Trace& trace, const CollectiveArguments& from);

/// The name of the collective in `_allgather_base`, `c10d::allreduce_`, `nccl:all_reduce` or
/// `ncclDevKernel_AllReduce_Sum_f16_RING_LL`; empty if there is none in \p text.
std::string collective_kind(std::string_view text);

/// Bytes of an element of c10's \p dtype (Float, BFloat16, c10::Half, float, ..); nothing for unknown ones.
std::optional<std::int64_t> element_bytes(std::string_view dtype);

/// "in > out" of the split sizes of an all-to-all; empty for equal shares, which are "[]".
std::string split_text(const std::string& in, const std::string& out);

/// The numbers in "[16, 48]", which are not negative; nothing for what is no such list, or was shortened.
std::optional<std::vector<std::int64_t>> split_sizes(const std::string& text);

/// Bytes of the larger side of a collective, of one rank. Nothing if its type or both sides are not known.
std::optional<std::int64_t> collective_bytes(std::optional<std::int64_t> in_elements,
                                             std::optional<std::int64_t> out_elements, std::string_view dtype);

}}  // namespace c3::traces
