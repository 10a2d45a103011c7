#pragma once
/// \file
/// The collectives that ran on a GPU, each with what is known of it.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "workloads/traces/collective_issues.hpp"
#include "workloads/traces/kernel_class.hpp"
#include "workloads/traces/trace_join.hpp"

namespace c3 { inline namespace traces {

struct CollectiveKernel {
  std::uint32_t activity = kNoIndex;  ///< in Trace::activities
  std::uint32_t issue = kNoIndex;     ///< in the issues: the operator that launched it
  std::string kind;                   ///< empty: not known
  std::string group;                  ///< empty: not known
  bool has_group_name = false;        ///< of the process group, the same on all ranks
  std::string dtype;
  std::string splits;  ///< "in > out" of an all-to-all with unequal shares
  std::optional<std::vector<std::int64_t>> in_splits, out_splits;  ///< as of CollectiveIssue
  std::optional<std::int64_t> in_elements, out_elements;           ///< of one rank
  std::optional<std::int64_t> sequence;
  std::optional<std::int64_t> group_size;
  std::optional<std::int64_t> bytes;  ///< of the larger side, in and out, of one rank

  bool is_specified() const { return !kind.empty() && bytes && group_size; }
  /// "bytes, group": what is_specified() lacks. Empty if nothing.
  std::string missing() const;
};

/// Work of class collective, by start. Metadata of the kernel first, then of its operator, then the kernel's
/// name for the kind. A copy, which is one of several of its operator, has no known bytes.
std::vector<CollectiveKernel> collective_kernels(const Trace& trace, const TraceJoin& join,
                                                 const std::vector<WorkClass>& classes,
                                                 const std::vector<CollectiveIssue>& issues);

}}  // namespace c3::traces
