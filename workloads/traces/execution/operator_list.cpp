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

/// [nodes] place in the list; kNoIndex for those that are not listed.
std::vector<std::uint32_t> places_of_nodes(const ExecutionTrace& execution) {
  std::vector<std::uint32_t> places(execution.nodes.size(), kNoIndex);
  std::uint32_t place = 0;
  for (const GpuOperator& found : listed_nodes(execution))
    places[found.node] = place++;
  return places;
}

/// An operator of the list that began at some date.
struct Occurrence {
  std::uint32_t place = kNoIndex;
  Picoseconds start;
};

/// In order of time.
std::vector<Occurrence> occurrences_in(const Trace& kineto, const KinetoJoin& join,
                                       const std::vector<std::uint32_t>& places) {
  std::vector<Occurrence> found;
  for (std::uint32_t op = 0; op < join.node_of_op.size(); ++op) {
    const std::uint32_t node = join.node_of_op[op];
    if (node != kNoIndex && places[node] != kNoIndex) found.push_back({places[node], kineto.ops[op].start});
  }
  std::ranges::stable_sort(found, {}, &Occurrence::start);
  return found;
}

struct Span {
  Picoseconds start, end;
};

/// When the host waited for the GPU, by start.
std::vector<Span> waiting_spans(const Rank& rank) {
  std::map<std::uint32_t, Span> of_call;
  for (const HostWait& wait : rank.waits) {
    const TraceEvent& call = rank.trace.calls[wait.call];
    const Picoseconds until = std::min(call.end(), rank.trace.activities[wait.activity].end());
    if (until <= call.start) continue;
    Span& span = of_call.try_emplace(wait.call, call.start, call.start).first->second;
    span.end = std::max(span.end, until);
  }
  std::vector<Span> spans;
  spans.reserve(of_call.size());
  for (const auto& [call, span] : of_call)
    spans.push_back(span);
  std::ranges::stable_sort(spans, {}, &Span::start);
  return spans;
}

/// Sums over the occurrences of one operator.
struct HostSum {
  std::int64_t count = 0;
  std::int64_t waits = 0;
  Picoseconds time;
};

/// From what began before each occurrence to it, without waiting.
std::vector<HostSum> host_sums(std::size_t places, const Rank& rank,
                               const std::vector<Occurrence>& occurrences) {
  std::vector<HostSum> sums(places);
  const std::vector<Span> waits = waiting_spans(rank);
  auto wait = waits.begin();
  auto step = rank.steps.begin();
  std::optional<Picoseconds> before;
  for (const Occurrence& occurrence : occurrences) {
    while (step != rank.steps.end() && step->start <= occurrence.start) {
      before = before ? std::max(*before, step->start) : step->start;
      ++step;
    }
    HostSum& sum = sums[occurrence.place];
    ++sum.count;
    const Picoseconds from = before.value_or(occurrence.start);
    Picoseconds waited;
    for (; wait != waits.end() && wait->start < occurrence.start; ++wait) {
      const Picoseconds end = std::min(wait->end, occurrence.start);
      if (end > std::max(wait->start, from)) waited += end - std::max(wait->start, from);
    }
    sum.time += std::max(occurrence.start - from - waited, Picoseconds{});
    sum.waits += waited.count > 0 ? 1 : 0;
    before = occurrence.start;
  }
  return sums;
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
    listed_operator.with_host = found.work == WorkClass::copy && copies_with_host(trace, node);
  }
  return list;
}

std::vector<std::uint32_t> launching_places(const ExecutionTrace& execution, const Rank& kineto,
                                            const KinetoJoin& join) {
  const std::vector<std::uint32_t> places = places_of_nodes(execution);
  // Of the listed operator that an operator of Kineto is, or is below of.
  const auto place_of = [&](std::uint32_t op) {
    while (op != kNoIndex && join.node_of_op[op] == kNoIndex)
      op = kineto.join.parent_op[op];
    if (op == kNoIndex) return kNoIndex;
    std::uint32_t node = join.node_of_op[op];
    while (node != kNoIndex && places[node] == kNoIndex)
      node = execution.parents[node];
    return node == kNoIndex ? kNoIndex : places[node];
  };
  std::vector<std::uint32_t> found;
  found.reserve(kineto.trace.activities.size());
  for (const std::uint32_t op : kineto.join.op_of)
    found.push_back(op == kNoIndex ? kNoIndex : place_of(op));
  return found;
}

OperatorCoverage add_times(RankOperators& list, const ExecutionTrace& execution, const Rank& kineto,
                           const KinetoJoin& join) {
  struct Launched {
    Picoseconds time;
    std::int64_t count = 0;
  };
  const Trace& trace = kineto.trace;
  const std::vector<std::uint32_t> places = launching_places(execution, kineto, join);
  std::vector<Launched> launched(list.operators.size());
  OperatorCoverage coverage;
  std::map<std::string, NodeCount> rest;
  for (std::uint32_t i = 0; i < trace.activities.size(); ++i) {
    const Picoseconds duration = trace.activities[i].duration;
    ++coverage.activities;
    coverage.time += duration;
    if (places[i] == kNoIndex) {
      NodeCount& count = rest[trace.name_of(trace.activities[i])];
      ++count.count;
      count.time += duration;
      continue;
    }
    ++coverage.covered;
    coverage.covered_time += duration;
    launched[places[i]].time += duration;
    ++launched[places[i]].count;
  }
  const std::vector<HostSum> sums =
      host_sums(list.operators.size(), kineto, occurrences_in(trace, join, places_of_nodes(execution)));
  for (std::size_t place = 0; place < sums.size(); ++place) {
    const HostSum& sum = sums[place];
    if (sum.count == 0) continue;
    ListedOperator& its = list.operators[place];
    its.gpu_time = Picoseconds{launched[place].time.count / sum.count};
    its.kernels = (launched[place].count + sum.count / 2) / sum.count;
    its.host_time = Picoseconds{sum.time.count / sum.count};
    its.after_wait = 2 * sum.waits > sum.count;
  }
  for (auto& [name, count] : rest) {
    count.name = name;
    coverage.rest.push_back(std::move(count));
  }
  std::ranges::stable_sort(coverage.rest, std::ranges::greater{}, &NodeCount::time);
  return coverage;
}

}  // namespace c3::traces
