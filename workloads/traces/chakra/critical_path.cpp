#include "workloads/traces/chakra/critical_path.hpp"

#include <algorithm>

#include "workloads/traces/trace_error.hpp"
#include "workloads/traces/trace_event.hpp"

namespace c3 { inline namespace traces {
namespace {

std::uint32_t index_of(const ChakraTrace& trace, std::uint64_t id) {
  const auto found = std::ranges::lower_bound(trace.nodes, id, {}, &ChakraNode::id);
  if (found == trace.nodes.end() || found->id != id) return kNoIndex;
  return static_cast<std::uint32_t>(found - trace.nodes.begin());
}

/// Edges from a node to those that depend on it.
struct Dependents {
  explicit Dependents(const ChakraTrace& trace)
      : has_data(std::ranges::any_of(trace.nodes,
                                     [](const ChakraNode& node) { return node.data_dependencies > 0; })),
        first(trace.nodes.size() + 1, 0),
        waits(trace.nodes.size(), 0) {
    for_each_edge(trace, [&](std::uint32_t from, std::uint32_t to) {
      ++first[from + 1];
      ++waits[to];
    });
    for (std::size_t i = 1; i < first.size(); ++i)
      first[i] += first[i - 1];
    nodes.resize(first.back());
    std::vector<std::size_t> next(first.begin(), first.end() - 1);
    for_each_edge(trace, [&](std::uint32_t from, std::uint32_t to) { nodes[next[from]++] = to; });
  }

  template <class Use>
  void for_each_edge(const ChakraTrace& trace, Use use) const {
    for (std::uint32_t to = 0; to < trace.nodes.size(); ++to) {
      const ChakraNode& node = trace.nodes[to];
      for (const std::uint64_t id : has_data ? trace.data_of(node) : trace.control_of(node)) {
        const std::uint32_t from = index_of(trace, id);
        if (from != kNoIndex) use(from, to);
      }
    }
  }

  bool has_data;
  std::vector<std::size_t> first;  ///< [nodes + 1] in `nodes`
  std::vector<std::uint32_t> nodes;
  std::vector<std::uint32_t> waits;  ///< [nodes] dependencies that have not ended yet
};

[[noreturn]] void refuse_ring(const ChakraTrace& trace, const std::vector<std::uint32_t>& waits) {
  const auto node = std::ranges::find_if(waits, [](std::uint32_t left) { return left > 0; }) - waits.begin();
  throw TraceSetError(
      {.file = trace.file, .rank = trace.rank, .event = trace.nodes[static_cast<std::size_t>(node)].position},
      "the nodes of this trace wait for each other in a ring");
}

}  // namespace

ChakraPlace place_of(const ChakraNode& node) {
  if (node.is_communication()) return ChakraPlace::communication;
  // Synthetic traces, which have no host, do not say where their nodes run.
  return node.is_on_host ? ChakraPlace::host : ChakraPlace::compute;
}

void add_time(NodeTimes& times, const ChakraNode& node) {
  switch (place_of(node)) {
    case ChakraPlace::host:
      times.host += node.duration;
      break;
    case ChakraPlace::compute:
      times.compute += node.duration;
      break;
    case ChakraPlace::communication:
      times.communication += node.duration;
      break;
  }
}

NodeTimes critical_path(const ChakraTrace& trace) {
  Dependents edges(trace);
  std::vector<Picoseconds> ends(trace.nodes.size());
  std::vector<std::uint32_t> before(trace.nodes.size(), kNoIndex);  // the node that decides when it begins
  std::vector<std::uint32_t> ready;
  for (std::uint32_t node = 0; node < trace.nodes.size(); ++node) {
    if (edges.waits[node] == 0) ready.push_back(node);
  }
  std::size_t done = 0;
  for (; done < ready.size(); ++done) {
    const std::uint32_t from = ready[done];
    ends[from] += trace.nodes[from].duration;  // so far, its begin
    for (std::size_t i = edges.first[from]; i < edges.first[from + 1]; ++i) {
      const std::uint32_t to = edges.nodes[i];
      if (before[to] == kNoIndex || ends[from] > ends[to]) {
        before[to] = from;
        ends[to] = ends[from];
      }
      if (--edges.waits[to] == 0) ready.push_back(to);
    }
  }
  if (done < trace.nodes.size()) refuse_ring(trace, edges.waits);
  NodeTimes path;
  if (trace.nodes.empty()) return path;
  for (auto at = static_cast<std::uint32_t>(std::ranges::max_element(ends) - ends.begin()); at != kNoIndex;
       at = before[at])
    add_time(path, trace.nodes[at]);
  return path;
}

std::size_t missing_dependencies(const ChakraTrace& trace) {
  return static_cast<std::size_t>(std::ranges::count_if(
      trace.dependencies, [&](std::uint64_t id) { return index_of(trace, id) == kNoIndex; }));
}

}}  // namespace c3::traces
