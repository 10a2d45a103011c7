#include "workloads/traces/execution/execution_report.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "workloads/traces/collective_issues.hpp"
#include "workloads/traces/execution/operator_class.hpp"

namespace c3::inline traces {
namespace {

bool has_shapes(const ExecutionTrace& trace, const ExecutionNode& node) {
  return trace.texts.text(node.inputs.texts.dims).find_first_of("0123456789") != std::string::npos;
}

std::string_view kind_of(const ExecutionTrace& trace, const ExecutionNode& node) {
  if (node.gpu_work != kNoIndex) return "GPU work, appended by a linker";
  if (node.collective != kNoIndex)
    return trace.collectives[node.collective].is_wait ? "wait for a collective" : "collective";
  if (trace.name_of(node).starts_with("[pytorch|profiler|")) return "process or thread";
  return node.schema != 0 ? "operator" : "range or function without schema";
}

class ReportMaker {
 public:
  void add(const ExecutionTrace& trace) {
    std::set<std::int64_t> threads;
    for (const ExecutionNode& node : trace.nodes) {
      NodeCount& kind = kinds_[std::string(kind_of(trace, node))];
      ++kind.count;
      if (has_shapes(trace, node)) ++kind.with_shapes;
      if (node.gpu_work != kNoIndex) kind.time += trace.gpu_work[node.gpu_work].duration;
      if (node.thread > 0) threads.insert(node.thread);
    }
    report_.files.push_back({.rank = trace.rank,
                             .file = trace.file,
                             .schema = trace.schema,
                             .nodes = trace.nodes.size(),
                             .threads = threads.size()});
    const std::vector<GpuOperator> operators = gpu_operators(trace);
    add_operators(trace, operators);
    add_collectives(trace);
    add_dependencies(trace, operators);
  }

  NodeGraphReport take() {
    report_.format = "PyTorch execution trace";
    report_.kinds = by_count(kinds_);
    report_.operators = by_count(operators_);
    for (auto& [key, collective] : collectives_)
      report_.collectives.push_back(std::move(collective));
    std::ranges::stable_sort(report_.collectives, std::ranges::greater{}, [](const NodeCollective& collective) {
      return static_cast<double>(collective.bytes.value_or(0)) * static_cast<double>(collective.count);
    });
    for (std::size_t i = 0; i < dependencies_.size(); ++i)
      report_.dependencies.push_back({.dependency = std::string(kDependencies[i]), .count = dependencies_[i]});
    return std::move(report_);
  }

 private:
  static std::vector<NodeCount> by_count(std::map<std::string, NodeCount>& counts) {
    std::vector<NodeCount> sorted;
    for (auto& [name, count] : counts) {
      count.name = name;
      sorted.push_back(count);
    }
    std::ranges::stable_sort(sorted, std::ranges::greater{}, &NodeCount::count);
    return sorted;
  }

  void add_operators(const ExecutionTrace& trace, const std::vector<GpuOperator>& operators) {
    for (const GpuOperator& found : operators) {
      NodeCount& count = operators_[std::string(name_of(found.work))];
      ++count.count;
      if (has_shapes(trace, trace.nodes[found.node])) ++count.with_shapes;
    }
  }

  void add_collectives(const ExecutionTrace& trace) {
    for (const ExecutionCollective& collective : trace.collectives) {
      if (collective.is_wait) {
        ++report_.waits;
        if (collective.partner != kNoIndex) ++report_.waits_paired;
        continue;
      }
      NodeCollective found = described(trace, collective);
      ++report_.collectives_issued;
      if (!found.kind.empty() && found.bytes && found.group_size) ++report_.collectives_specified;
      // Addresses of groups differ from rank to rank.
      const std::string group = collective.arguments.group != 0 ? found.group : "";
      const auto key = std::tuple(found.kind, found.dtype, group, found.splits, found.bytes, found.group_size);
      ++collectives_.emplace(key, std::move(found)).first->second.count;
    }
  }

  static NodeCollective described(const ExecutionTrace& trace, const ExecutionCollective& collective) {
    const CollectiveArguments& arguments = collective.arguments;
    const auto text = [&](TextId id) -> const std::string& { return trace.texts.text(id); };
    const std::string& in = text(arguments.in_split);
    const std::string& out = text(arguments.out_split);
    return {.kind = collective_kind(text(arguments.name)),
            .dtype = text(arguments.dtype),
            .group = text(arguments.group),
            .splits = in.size() > 2 || out.size() > 2 ? in + " > " + out : "",  // "[]": equal shares
            .bytes = collective_bytes(arguments.in_elements, arguments.out_elements, text(arguments.dtype)),
            .group_size = arguments.group_size,
            .count = 0,
            .time = {}};
  }

  void add_dependencies(const ExecutionTrace& trace, const std::vector<GpuOperator>& operators) {
    auto& [parents, missing, forward, waits, storages] = dependencies_;
    parents += trace.nodes.size() - static_cast<std::size_t>(std::ranges::count(trace.parents, kNoIndex));
    missing += trace.missing_parents;
    forward += static_cast<std::size_t>(
        std::ranges::count_if(trace.nodes, [](const ExecutionNode& node) { return node.forward > 0; }));
    waits += static_cast<std::size_t>(std::ranges::count_if(trace.collectives, [](const auto& collective) {
      return collective.is_wait && collective.partner != kNoIndex;
    }));
    storages += storage_dependencies(trace, operators);
  }

  /// Pairs of operators of which one takes what another was the last to give.
  static std::size_t storage_dependencies(const ExecutionTrace& trace,
                                          const std::vector<GpuOperator>& operators) {
    std::unordered_map<std::int64_t, std::uint32_t> last;
    std::size_t count = 0;
    for (const GpuOperator& found : operators) {
      const ExecutionNode& node = trace.nodes[found.node];
      std::set<std::uint32_t> sources;
      for (std::uint32_t i = 0; i < node.inputs.tensors; ++i) {
        const auto source = last.find(trace.tensors[node.inputs.first_tensor + i].storage);
        if (source != last.end()) sources.insert(source->second);
      }
      count += sources.size();
      for (std::uint32_t i = 0; i < node.outputs.tensors; ++i)
        last[trace.tensors[node.outputs.first_tensor + i].storage] = found.node;
    }
    return count;
  }

  static constexpr std::array<std::string_view, 5> kDependencies{
      "node in its parent", "parent that is not in the file", "backward node to its forward node",
      "wait to its collective, by sequence number",
      "GPU operator to the last one that gave a storage it takes"};

  using CollectiveKey = std::tuple<std::string, std::string, std::string, std::string,
                                   std::optional<std::int64_t>, std::optional<std::int64_t>>;

  NodeGraphReport report_;
  std::map<std::string, NodeCount> kinds_;
  std::map<std::string, NodeCount> operators_;
  std::map<CollectiveKey, NodeCollective> collectives_;
  std::array<std::size_t, kDependencies.size()> dependencies_{};
};

}  // namespace

NodeGraphReport make_report(const std::vector<ExecutionTrace>& ranks) {
  ReportMaker maker;
  for (const ExecutionTrace& trace : ranks)
    maker.add(trace);
  return maker.take();
}

}  // namespace c3::traces
