#include "workloads/traces/execution/execution_reader.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "workloads/traces/event_categories.hpp"
#include "workloads/traces/execution/collective_node.hpp"
#include "workloads/traces/execution/group_ranks.hpp"
#include "workloads/traces/execution/node_arguments.hpp"
#include "workloads/traces/execution/node_json.hpp"
#include "workloads/traces/trace_error.hpp"

namespace c3 { inline namespace traces {
namespace {

class ExecutionReader final : public JsonPieces {
 public:
  explicit ExecutionReader(const std::string& file) { trace_.file = file; }

  MemberUse use_of(std::string_view key) override {
    if (key == "nodes") {
      has_nodes_ = true;
      return MemberUse::split;
    }
    return key == "schema" || key == "pid" ? MemberUse::keep : MemberUse::skip;
  }

  void member(std::string_view key, std::string_view text) override {
    try {
      const JsonView root = tree_.parse(fmt::format("[{}]", text));
      for (const JsonView value : root)
        (key == "pid" ? trace_.process : trace_.schema) = value.text();
    } catch (const JsonSyntaxError& error) {
      throw TraceError({.file = trace_.file, .rank = {}, .event = {}},
                       fmt::format("{}: {}", key, error.what()));
    }
  }

  void element(std::uint64_t index, std::string_view text) override {
    position_ = index;
    try {
      add(tree_.parse(text));
    } catch (const JsonSyntaxError& error) {
      fail(fmt::format("it is not a JSON object: {}", error.what()));
    }
  }

  ExecutionTrace take() {
    if (!has_nodes_)
      throw TraceError({.file = trace_.file, .rank = {}, .event = {}},
                       "it has no \"nodes\": it is not a PyTorch execution trace");
    if (trace_.nodes.empty())
      throw TraceError({.file = trace_.file, .rank = {}, .event = {}}, "its \"nodes\" are empty");
    sort_nodes();
    link_parents();
    pair_waits(trace_.collectives);
    complete_groups(trace_);
    set_rank(trace_);
    return std::move(trace_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw TraceError({.file = trace_.file, .rank = {}, .event = position_}, what);
  }

  void add(JsonView json) {
    if (!json.is(JsonKind::object)) fail("it is not a JSON object");
    const NodeJson node_json(json);
    const auto number = [&](std::string_view name, std::int64_t otherwise) {
      return node_json.attribute(name).integer().value_or(otherwise);
    };
    const std::optional<std::int64_t> id = node_json["id"].integer();
    if (!id || *id < 0) fail("it has no id that is an integer from 0");
    ExecutionNode node{.id = *id,
                       .parent = parent_in(node_json),
                       .record_id = number("rf_id", 0),
                       .forward = number("fw_parent", 0),
                       .sequence = number("seq_id", kUnknown),
                       .thread = number("tid", 0),
                       .forward_thread = number("fw_tid", 0),
                       .position = position_,
                       .name = trace_.texts.id_of(node_json["name"].text()),
                       .schema = trace_.texts.id_of(node_json.attribute("op_schema").text()),
                       .inputs = read_arguments(node_json.inputs(), trace_),
                       .outputs = read_arguments(node_json.outputs(), trace_)};
    if (node.parent == node.id) node.parent = kUnknown;
    if (node_json["name"].text() == "record_param_comms") add_collective(node, node_json);
    if (node_json["name"].text() == "## process_group:init ##") add_groups(node_json);
    add_gpu_work(node, node_json);
    threads_.insert(node.thread);
    if (threads_.size() > kMostThreads) fail(fmt::format("more than {} threads in one trace", kMostThreads));
    trace_.nodes.push_back(node);
  }

  static std::int64_t parent_in(const NodeJson& node) {
    JsonView parent = node["ctrl_deps"];
    if (parent.is(JsonKind::null)) parent = node["parent"];
    if (parent.is(JsonKind::array)) parent = parent.empty() ? JsonView() : *parent.begin();
    return parent.integer().value_or(kUnknown);
  }

  void add_collective(ExecutionNode& node, const NodeJson& json) {
    node.collective = static_cast<std::uint32_t>(trace_.collectives.size());
    trace_.collectives.push_back(read_collective(json, node.inputs, node.outputs, trace_));
  }

  /// The only input is a JSON array, as a text.
  void add_groups(const NodeJson& json) {
    const JsonView values = json.inputs().values;
    if (values.empty()) return;
    std::vector<ExecutionGroup> groups = read_groups((*values.begin()).text());
    std::ranges::move(groups, std::back_inserter(trace_.groups));
  }

  void add_gpu_work(ExecutionNode& node, const NodeJson& json) {
    const std::optional<EventKind> kind = kind_of_category(json["cat"].text());
    if (!kind || !is_gpu_work(*kind)) return;
    const std::optional<WidePicoseconds> duration = parse_microseconds(json["dur"].text());
    const std::optional<Picoseconds> narrow = duration && *duration >= 0 ? narrowed(*duration) : std::nullopt;
    if (!narrow)
      fail(fmt::format("dur: \"{}\" is not a number of microseconds from 0 to 106 days",
                       json["dur"].text().substr(0, 100)));
    node.gpu_work = static_cast<std::uint32_t>(trace_.gpu_work.size());
    trace_.gpu_work.push_back(
        {.kind = *kind, .stream = json["args"]["stream"].integer().value_or(kUnknown), .duration = *narrow});
  }

  void sort_nodes() {
    std::ranges::stable_sort(trace_.nodes, {}, &ExecutionNode::id);
    trace_.nodes.shrink_to_fit();
    trace_.tensors.shrink_to_fit();
    const auto twice = std::ranges::adjacent_find(trace_.nodes, {}, &ExecutionNode::id);
    if (twice != trace_.nodes.end()) {
      position_ = std::next(twice)->position;
      fail(fmt::format("event {} has the id {} as well", twice->position, twice->id));
    }
    // Collectives follow the order of their nodes.
    std::vector<ExecutionCollective> sorted;
    sorted.reserve(trace_.collectives.size());
    for (std::uint32_t i = 0; i < trace_.nodes.size(); ++i) {
      ExecutionNode& node = trace_.nodes[i];
      if (node.collective == kNoIndex) continue;
      ExecutionCollective& collective = trace_.collectives[node.collective];
      collective.node = i;
      node.collective = static_cast<std::uint32_t>(sorted.size());
      sorted.push_back(collective);
    }
    trace_.collectives = std::move(sorted);
  }

  void link_parents() {
    trace_.parents.assign(trace_.nodes.size(), kNoIndex);
    for (std::uint32_t i = 0; i < trace_.nodes.size(); ++i) {
      const std::int64_t parent = trace_.nodes[i].parent;
      if (parent == kUnknown) continue;
      const auto found = std::ranges::lower_bound(trace_.nodes, parent, {}, &ExecutionNode::id);
      if (found != trace_.nodes.end() && found->id == parent) {
        trace_.parents[i] = static_cast<std::uint32_t>(found - trace_.nodes.begin());
      } else if (parent != 0) {
        ++trace_.missing_parents;
      }
    }
    refuse_rings();
  }

  /// Every node is walked up once: to a node without parent, or to one that was walked from before.
  void refuse_rings() {
    std::vector<std::uint32_t> walk(trace_.nodes.size(), kNoIndex);
    for (std::uint32_t start = 0; start < trace_.nodes.size(); ++start) {
      for (std::uint32_t at = start; at != kNoIndex && walk[at] != start; at = trace_.parents[at]) {
        if (walk[at] != kNoIndex) break;
        walk[at] = start;
        const std::uint32_t parent = trace_.parents[at];
        if (parent == kNoIndex || walk[parent] != start) continue;
        position_ = trace_.nodes[at].position;
        fail("this node and its parents form a ring");
      }
    }
  }

  static constexpr std::size_t kMostThreads = 4096;  // of a file that is meant to take long
  static constexpr int kDeepest = 100;               // as deep as json_splitter lets through

  ExecutionTrace trace_;
  JsonTree tree_{kDeepest};
  std::set<std::int64_t> threads_;
  bool has_nodes_ = false;
  std::uint64_t position_ = 0;
};

}  // namespace

ExecutionTrace read_execution_trace(const std::string& file, const ByteSource& source) {
  ExecutionReader reader(file);
  split_trace(file, source, reader);
  return reader.take();
}

}}  // namespace c3::traces
