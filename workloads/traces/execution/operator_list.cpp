#include "workloads/traces/execution/operator_list.hpp"

#include <algorithm>

#include "workloads/traces/collective_issues.hpp"

namespace c3 { inline namespace traces {
namespace {

ListedCollective listed(const ExecutionTrace& trace, const ExecutionCollective& collective) {
  const CollectiveArguments& arguments = collective.arguments;
  const auto text = [&](TextId id) -> const std::string& { return trace.texts.text(id); };
  const TextId group = arguments.group != 0 ? arguments.group : collective.group_address;
  return {.is_wait = collective.is_wait,
          .kind = collective.is_wait ? "" : collective_kind(text(arguments.name)),
          .dtype = collective.is_wait ? "" : text(arguments.dtype),
          .group = text(group),
          .has_group_name = arguments.group != 0,
          .splits = split_text(text(arguments.in_split), text(arguments.out_split)),
          .bytes = collective_bytes(arguments.in_elements, arguments.out_elements, text(arguments.dtype)),
          .group_size = arguments.group_size,
          .sequence = arguments.sequence};
}

bool is_on(const ExecutionTrace& trace, const ExecutionArguments& side, bool host) {
  for (std::uint32_t i = 0; i < side.tensors; ++i) {
    const std::string& device = trace.texts.text(trace.tensors[side.first_tensor + i].device);
    if (!device.empty() && (device == "cpu") == host) return true;
  }
  return false;
}

/// Whether its tensors are in both memories.
bool copies_with_host(const ExecutionTrace& trace, const ExecutionNode& node) {
  const auto is_one_on = [&](bool host) {
    return is_on(trace, node.inputs, host) || is_on(trace, node.outputs, host);
  };
  return is_one_on(true) && is_one_on(false);
}

}  // namespace

std::vector<GpuOperator> listed_nodes(const ExecutionTrace& trace) {
  std::vector<GpuOperator> nodes = gpu_operators(trace);
  for (const ExecutionCollective& collective : trace.collectives) {
    if (collective.is_wait) nodes.push_back({.node = collective.node, .work = WorkClass::collective});
  }
  std::ranges::sort(nodes, {}, &GpuOperator::node);
  return nodes;
}

RankOperators list_operators(const ExecutionTrace& trace, int rank) {
  RankOperators list{.rank = rank, .operators = {}};
  for (const GpuOperator& found : listed_nodes(trace)) {
    const ExecutionNode& node = trace.nodes[found.node];
    const OpDetails& inputs = node.inputs.texts;
    ListedOperator& listed_operator = list.operators.emplace_back();
    listed_operator.work = found.work;
    listed_operator.thread = node.thread;
    listed_operator.name = trace.name_of(node);
    if (node.collective != kNoIndex) {
      listed_operator.collective = listed(trace, trace.collectives[node.collective]);
      continue;  // its arguments are there by name
    }
    listed_operator.dims = trace.texts.text(inputs.dims);
    listed_operator.types = trace.texts.text(inputs.types);
    listed_operator.concrete = trace.texts.text(inputs.concrete);
    listed_operator.with_host = found.work == WorkClass::copy && copies_with_host(trace, node);
  }
  return list;
}

}}  // namespace c3::traces
