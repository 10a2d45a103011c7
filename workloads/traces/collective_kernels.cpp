#include "workloads/traces/collective_kernels.hpp"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/small_letters.hpp"
#include "workloads/traces/communication_names.hpp"

namespace c3 { inline namespace traces {
namespace {

void read_kernel(const Trace& trace, const CollectiveArguments& from, CollectiveKernel& kernel) {
  kernel.kind = collective_kind(trace.texts.text(from.name));
  kernel.group = group_text(trace, from);
  kernel.has_group_name = !kernel.group.empty();
  kernel.dtype = trace.texts.text(from.dtype);
  kernel.splits = split_text(trace.texts.text(from.in_split), trace.texts.text(from.out_split));
  kernel.in_splits = split_sizes(trace.texts.text(from.in_split));
  kernel.out_splits = split_sizes(trace.texts.text(from.out_split));
  kernel.in_elements = from.in_elements;
  kernel.out_elements = from.out_elements;
  kernel.sequence = from.sequence;
  kernel.group_size = from.group_size;
  kernel.bytes = collective_bytes(from.in_elements, from.out_elements, kernel.dtype);
}

void complete(CollectiveKernel& kernel, const CollectiveIssue& issue) {
  if (kernel.kind.empty()) kernel.kind = issue.kind;
  if (kernel.group.empty()) {
    kernel.group = issue.group;
    kernel.has_group_name = issue.has_group_name;
  }
  if (kernel.dtype.empty()) kernel.dtype = issue.dtype;
  if (kernel.splits.empty()) kernel.splits = issue.splits;
  if (!kernel.in_splits) kernel.in_splits = issue.in_splits;
  if (!kernel.out_splits) kernel.out_splits = issue.out_splits;
  if (!kernel.in_elements) kernel.in_elements = issue.in_elements;
  if (!kernel.out_elements) kernel.out_elements = issue.out_elements;
  if (!kernel.sequence) kernel.sequence = issue.sequence;
  if (!kernel.group_size) kernel.group_size = issue.group_size;
  if (!kernel.bytes) kernel.bytes = collective_bytes(issue.in_elements, issue.out_elements, kernel.dtype);
}

std::string kind_by_name(const std::string& kernel) {
  const CommunicationName* const known = communication_name(in_small_letters(kernel));
  if (known != nullptr && !known->kind.empty()) return std::string(known->kind);
  const std::string kind = collective_kind(kernel);
  return kind == "wait" ? "" : kind;  // for a signal, of whatever it is
}

}  // namespace

std::string CollectiveKernel::missing() const {
  std::vector<std::string> parts;
  if (kind.empty()) parts.emplace_back("kind");
  if (!bytes) parts.emplace_back("bytes");
  if (!group_size) parts.emplace_back("group");
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<CollectiveKernel> collective_kernels(const Trace& trace, const TraceJoin& join,
                                                 const std::vector<WorkClass>& classes,
                                                 const std::vector<CollectiveIssue>& issues) {
  std::unordered_map<std::uint32_t, std::uint32_t> issue_of_op;
  for (std::uint32_t i = 0; i < issues.size(); ++i)
    issue_of_op.emplace(issues[i].op, i);
  std::vector<CollectiveKernel> kernels;
  for (std::uint32_t i = 0; i < trace.activities.size(); ++i) {
    const TraceEvent& event = trace.activities[i];
    if (classes[i] != WorkClass::collective) continue;
    CollectiveKernel kernel;
    kernel.activity = i;
    if (event.collective != kNoIndex) read_kernel(trace, trace.collective_arguments[event.collective], kernel);
    for (std::uint32_t op = join.op_of[i]; op != kNoIndex && kernel.issue == kNoIndex;
         op = join.parent_op[op]) {
      if (const auto found = issue_of_op.find(op); found != issue_of_op.end()) kernel.issue = found->second;
    }
    if (kernel.issue != kNoIndex) complete(kernel, issues[kernel.issue]);
    if (kernel.kind.empty()) kernel.kind = kind_by_name(trace.name_of(event));
    if (event.kind == EventKind::copy) kernel.bytes.reset();
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

}}  // namespace c3::traces
