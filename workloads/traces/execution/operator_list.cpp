#include "workloads/traces/execution/operator_list.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "workloads/traces/collective_issues.hpp"
#include "workloads/traces/execution/operator_class.hpp"

namespace c3::inline traces {
namespace {

/// What is listed: GPU operators and waits, by node.
std::vector<GpuOperator> listed_nodes(const ExecutionTrace& trace) {
  std::vector<GpuOperator> nodes = gpu_operators(trace);
  for (const ExecutionCollective& collective : trace.collectives) {
    if (collective.is_wait) nodes.push_back({.node = collective.node, .work = WorkClass::collective});
  }
  std::ranges::sort(nodes, {}, &GpuOperator::node);
  return nodes;
}

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

}  // namespace

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
  }
  return list;
}

OperatorCoverage add_times(RankOperators& list, const ExecutionTrace& execution, const Trace& kineto,
                           const TraceJoin& launches, const KinetoJoin& join) {
  std::vector<std::uint32_t> place_of_node(execution.nodes.size(), kNoIndex);
  const std::vector<GpuOperator> nodes = listed_nodes(execution);
  for (std::uint32_t place = 0; place < nodes.size(); ++place)
    place_of_node[nodes[place].node] = place;

  // The listed operator that an operator of Kineto is, or is below of.
  const auto place_of = [&](std::uint32_t op) {
    while (op != kNoIndex && join.node_of_op[op] == kNoIndex)
      op = launches.parent_op[op];
    if (op == kNoIndex) return kNoIndex;
    std::uint32_t node = join.node_of_op[op];
    while (node != kNoIndex && place_of_node[node] == kNoIndex)
      node = execution.parents[node];
    return node == kNoIndex ? kNoIndex : place_of_node[node];
  };

  std::vector<std::int64_t> occurrences(list.operators.size(), 0);
  for (const std::uint32_t node : join.node_of_op) {
    if (node != kNoIndex && place_of_node[node] != kNoIndex) ++occurrences[place_of_node[node]];
  }
  std::vector<Picoseconds> times(list.operators.size());
  OperatorCoverage coverage;
  std::map<std::string, NodeCount> rest;
  for (std::uint32_t i = 0; i < kineto.activities.size(); ++i) {
    const Picoseconds duration = kineto.activities[i].duration;
    ++coverage.activities;
    coverage.time += duration;
    const std::uint32_t place = launches.op_of[i] == kNoIndex ? kNoIndex : place_of(launches.op_of[i]);
    if (place == kNoIndex) {
      NodeCount& count = rest[kineto.name_of(kineto.activities[i])];
      ++count.count;
      count.time += duration;
      continue;
    }
    ++coverage.covered;
    coverage.covered_time += duration;
    times[place] += duration;
  }
  for (std::size_t place = 0; place < times.size(); ++place) {
    if (occurrences[place] > 0)
      list.operators[place].gpu_time = Picoseconds{times[place].count / occurrences[place]};
  }
  for (auto& [name, count] : rest) {
    count.name = name;
    coverage.rest.push_back(std::move(count));
  }
  std::ranges::stable_sort(coverage.rest, std::ranges::greater{}, &NodeCount::time);
  return coverage;
}

}  // namespace c3::traces
