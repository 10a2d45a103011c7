#include "workloads/traces/execution/kineto_join.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/json.hpp"
#include "workloads/traces/execution/sequence_alignment.hpp"

namespace c3 { inline namespace traces {
namespace {

/// Numbers of names that are the same in both traces.
class SharedNames {
 public:
  std::uint32_t number(const std::string& name) {
    return numbers_.emplace(name, static_cast<std::uint32_t>(numbers_.size())).first->second;
  }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

/// What one thread began, in order.
struct Sequence {
  std::vector<std::uint32_t> names;
  std::vector<std::uint32_t> items;  ///< nodes, or operators; kNoIndex for an annotation
};

bool is_process_or_thread(const std::string& name) { return name.starts_with("[pytorch|profiler|"); }

std::vector<Sequence> sequences_of(const ExecutionTrace& trace, SharedNames& names) {
  std::map<std::int64_t, Sequence> threads;
  for (std::uint32_t i = 0; i < trace.nodes.size(); ++i) {
    const ExecutionNode& node = trace.nodes[i];
    const std::string& name = trace.name_of(node);
    if (is_process_or_thread(name) || node.gpu_work != kNoIndex) continue;
    Sequence& thread = threads[node.thread];
    thread.names.push_back(names.number(name));
    thread.items.push_back(i);
  }
  std::vector<Sequence> sequences;
  sequences.reserve(threads.size());
  for (auto& [number, thread] : threads)
    sequences.push_back(std::move(thread));
  return sequences;
}

/// [threads]; an annotation and an operator that began together in the order of Trace.
std::vector<Sequence> sequences_of(const Trace& trace, SharedNames& names) {
  std::vector<Sequence> threads(trace.threads.size());
  std::size_t annotation = 0;
  const auto add = [&](const TraceEvent& event, std::uint32_t item) {
    if (event.track >= threads.size()) return;
    threads[event.track].names.push_back(names.number(trace.name_of(event)));
    threads[event.track].items.push_back(item);
  };
  const auto is_before = [](const TraceEvent& a, const TraceEvent& b) {
    return a.start != b.start ? a.start < b.start : a.duration >= b.duration;
  };
  for (std::uint32_t op = 0; op < trace.ops.size(); ++op) {
    for (; annotation < trace.annotations.size() && is_before(trace.annotations[annotation], trace.ops[op]);
         ++annotation)
      add(trace.annotations[annotation], kNoIndex);
    add(trace.ops[op], op);
  }
  return threads;
}

/// The thread of the execution trace that has most of the names.
const Sequence* alike(const Sequence& thread, const std::vector<Sequence>& candidates,
                      const std::vector<std::unordered_set<std::uint32_t>>& names) {
  const Sequence* best = nullptr;
  std::ptrdiff_t most = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const auto shared =
        std::ranges::count_if(thread.names, [&](std::uint32_t name) { return names[i].contains(name); });
    if (shared <= most) continue;
    most = shared;
    best = &candidates[i];
  }
  return best;
}

std::vector<std::uint32_t> joined_by_order(const Trace& kineto, const ExecutionTrace& execution) {
  std::vector<std::uint32_t> node_of_op(kineto.ops.size(), kNoIndex);
  SharedNames numbers;
  const std::vector<Sequence> nodes = sequences_of(execution, numbers);
  std::vector<std::unordered_set<std::uint32_t>> names;
  names.reserve(nodes.size());
  for (const Sequence& thread : nodes)
    names.emplace_back(thread.names.begin(), thread.names.end());
  for (const Sequence& thread : sequences_of(kineto, numbers)) {
    const Sequence* const pattern = alike(thread, nodes, names);
    if (pattern == nullptr) continue;
    const std::vector<std::uint32_t> places = align(thread.names, pattern->names);
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (places[i] != kNoIndex && thread.items[i] != kNoIndex)
        node_of_op[thread.items[i]] = pattern->items[places[i]];
    }
  }
  return node_of_op;
}

/// Nothing if too few are found so: the two were recorded in different steps, or Kineto has no such ids.
std::optional<std::vector<std::uint32_t>> joined_by_id(const Trace& kineto, const ExecutionTrace& execution) {
  std::unordered_map<std::int64_t, std::uint32_t> nodes;
  for (std::uint32_t i = 0; i < execution.nodes.size(); ++i) {
    if (execution.nodes[i].record_id > 0) nodes.emplace(execution.nodes[i].record_id, i);
  }
  std::vector<std::uint32_t> node_of_op(kineto.ops.size(), kNoIndex);
  std::size_t found = 0;
  for (std::uint32_t op = 0; op < kineto.ops.size(); ++op) {
    const auto node = nodes.find(kineto.ops[op].record_id);
    if (node == nodes.end()) continue;
    if (kineto.name_of(kineto.ops[op]) != execution.name_of(execution.nodes[node->second])) continue;
    node_of_op[op] = node->second;
    ++found;
  }
  const std::size_t least = std::min(nodes.size(), kineto.ops.size());
  if (found == 0 || 2 * found < least) return std::nullopt;
  return node_of_op;
}

/// Whether dimensions of arguments are the same wherever both have them.
bool agree(const std::string& ours, const std::string& theirs) {
  if (ours == theirs) return true;
  try {
    const Json a = Json::parse(ours);
    const Json b = Json::parse(theirs);
    if (a.size() != b.size()) return false;
    return std::ranges::equal(a.elements(), b.elements(), [](const Json& left, const Json& right) {
      return left.empty() || right.empty() || left == right;
    });
  } catch (const JsonError&) {
    return false;
  }
}

class Completion {
 public:
  Completion(const ExecutionTrace& execution, Trace& kineto, ExecutionJoin& counts)
      : execution_(execution), kineto_(kineto), counts_(counts) {}

  void complete(TraceEvent& op, const ExecutionNode& node) {
    ++counts_.joined;
    add_inputs(op, node);
    if (node.collective != kNoIndex) add_collective(op, execution_.collectives[node.collective]);
  }

 private:
  TextId translated(TextId text) {
    if (text == 0) return 0;
    const auto [place, is_new] = texts_.emplace(text, TextId{0});
    if (is_new) place->second = kineto_.texts.id_of(execution_.texts.text(text));
    return place->second;
  }

  void add_inputs(TraceEvent& op, const ExecutionNode& node) {
    const OpDetails& inputs = node.inputs.texts;
    const std::string& dims = execution_.texts.text(inputs.dims);
    if (op.details != kNoIndex) {
      const std::string& recorded = kineto_.texts.text(kineto_.op_details[op.details].dims);
      if (has_sizes(recorded) && has_sizes(dims))
        ++(agree(recorded, dims) ? counts_.shapes_same : counts_.shapes_differ);
      return;
    }
    if (inputs.dims == 0) return;
    op.details = static_cast<std::uint32_t>(kineto_.op_details.size());
    kineto_.op_details.push_back({.dims = translated(inputs.dims),
                                  .types = translated(inputs.types),
                                  .concrete = translated(inputs.concrete)});
    if (has_sizes(dims)) ++counts_.shapes_added;
  }

  void add_collective(TraceEvent& op, const ExecutionCollective& collective) {
    if (op.collective == kNoIndex) {
      op.collective = static_cast<std::uint32_t>(kineto_.collective_arguments.size());
      kineto_.collective_arguments.emplace_back();
    }
    if (fill(kineto_.collective_arguments[op.collective], collective.arguments)) ++counts_.collectives_added;
  }

  /// What \p ours lacks; the group only as a whole, which its name and its ranks are.
  /// \returns whether there was anything
  bool fill(CollectiveArguments& ours, const CollectiveArguments& theirs) {
    bool is_new = false;
    const auto text = [&](TextId CollectiveArguments::*member) {
      if (ours.*member != 0 || theirs.*member == 0) return;
      ours.*member = translated(theirs.*member);
      is_new = true;
    };
    const auto number = [&](std::optional<std::int64_t> CollectiveArguments::*member) {
      if (ours.*member || !(theirs.*member)) return;
      ours.*member = theirs.*member;
      is_new = true;
    };
    if (ours.group == 0) {
      text(&CollectiveArguments::group);
      text(&CollectiveArguments::group_description);
      text(&CollectiveArguments::ranks);
    }
    text(&CollectiveArguments::name);
    text(&CollectiveArguments::dtype);
    text(&CollectiveArguments::in_split);
    text(&CollectiveArguments::out_split);
    number(&CollectiveArguments::in_elements);
    number(&CollectiveArguments::out_elements);
    number(&CollectiveArguments::group_size);
    number(&CollectiveArguments::sequence);
    return is_new;
  }

  const ExecutionTrace& execution_;
  Trace& kineto_;
  ExecutionJoin& counts_;
  std::unordered_map<TextId, TextId> texts_;
};

}  // namespace

KinetoJoin join_with_kineto(const Trace& kineto, const ExecutionTrace& execution) {
  KinetoJoin join{.node_of_op = joined_by_order(kineto, execution), .by_record_id = false};
  const auto by_id = joined_by_id(kineto, execution);
  if (!by_id) return join;
  join.by_record_id = true;
  for (std::size_t op = 0; op < by_id->size(); ++op) {
    if ((*by_id)[op] != kNoIndex) join.node_of_op[op] = (*by_id)[op];
  }
  return join;
}

ExecutionJoin complete_from(const ExecutionTrace& execution, const KinetoJoin& join, Trace& kineto) {
  ExecutionJoin counts;
  counts.rank = kineto.rank;
  counts.file = execution.file;
  counts.by_record_id = join.by_record_id;
  counts.nodes = execution.nodes.size();
  counts.ops = kineto.ops.size();
  Completion completion(execution, kineto, counts);
  for (std::uint32_t op = 0; op < kineto.ops.size(); ++op) {
    if (join.node_of_op[op] != kNoIndex)
      completion.complete(kineto.ops[op], execution.nodes[join.node_of_op[op]]);
  }
  if (counts.shapes_added > 0) kineto.has_shapes = true;
  return counts;
}

}}  // namespace c3::traces
