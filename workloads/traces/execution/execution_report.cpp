#include "workloads/traces/execution/execution_report.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "workloads/traces/execution/operator_class.hpp"
#include "workloads/traces/execution/operator_list_file.hpp"
#include "workloads/traces/shape_counts.hpp"

namespace c3 { inline namespace traces {
namespace {

bool has_shapes(const ExecutionTrace& trace, const ExecutionNode& node) {
  return has_sizes(trace.texts.text(node.inputs.texts.dims));
}

std::string_view kind_of(const ExecutionTrace& trace, const ExecutionNode& node) {
  if (node.gpu_work != kNoIndex) return "GPU work, appended by a linker";
  if (node.collective != kNoIndex)
    return trace.collectives[node.collective].is_wait ? "wait for a collective" : "collective";
  if (trace.name_of(node).starts_with("[pytorch|profiler|")) return "process or thread";
  return node.schema != 0 ? "operator" : "range or function without schema";
}

/// Sorted by count, the most frequent first.
std::vector<NodeCount> sorted(std::map<std::string, NodeCount>& counts) {
  std::vector<NodeCount> all;
  for (auto& [name, count] : counts) {
    count.name = name;
    all.push_back(count);
  }
  std::ranges::stable_sort(all, std::ranges::greater{}, &NodeCount::count);
  return all;
}

/// Operators and collectives of lists.
class ListCounts {
 public:
  void add(const RankOperators& list) {
    std::set<std::int64_t> issued;
    for (const ListedOperator& found : list.operators) {
      if (found.collective) add_collective(found, issued);
      if (found.collective && found.collective->is_wait) continue;
      NodeCount& count = operators_[std::string(name_of(found.work))];
      ++count.count;
      if (found.has_shapes() || (found.collective && found.collective->bytes)) ++count.with_shapes;
      has_times_ = has_times_ || found.gpu_time.has_value();
      count.time += found.gpu_time.value_or(Picoseconds{});
      if (!found.collective)
        shapes_.add({.work = std::string(name_of(found.work)),
                     .name = found.name,
                     .dims = found.dims,
                     .types = found.types,
                     .count = 1,
                     .time = found.gpu_time.value_or(Picoseconds{})});
    }
  }

  void take(NodeGraphReport& report) {
    report.operators = sorted(operators_);
    report.has_times = has_times_;
    report.shapes = shapes_.take();
    for (auto& [key, collective] : collectives_)
      report.collectives.push_back(std::move(collective));
    std::ranges::stable_sort(report.collectives, std::ranges::greater{}, [](const NodeCollective& collective) {
      return static_cast<double>(collective.bytes.value_or(0)) * static_cast<double>(collective.count);
    });
    report.collectives_issued = issued_;
    report.collectives_specified = specified_;
    report.waits = waits_;
    report.waits_paired = waits_paired_;
  }

 private:
  void add_collective(const ListedOperator& found, std::set<std::int64_t>& issued) {
    const ListedCollective& collective = *found.collective;
    if (collective.is_wait) {
      ++waits_;
      if (collective.sequence && issued.contains(*collective.sequence)) ++waits_paired_;
      return;
    }
    if (collective.sequence) issued.insert(*collective.sequence);
    ++issued_;
    if (!collective.kind.empty() && collective.bytes && collective.group_size) ++specified_;
    // Addresses of groups differ from rank to rank.
    const NodeCollective row{.kind = collective.kind,
                             .dtype = collective.dtype,
                             .group = collective.has_group_name ? collective.group : "",
                             .splits = collective.splits,
                             .bytes = collective.bytes,
                             .group_size = collective.group_size,
                             .count = 0,
                             .time = {}};
    const auto key = std::tuple(row.kind, row.dtype, row.group, row.splits, row.bytes, row.group_size);
    NodeCollective& sum = collectives_.emplace(key, row).first->second;
    ++sum.count;
    sum.time += found.gpu_time.value_or(Picoseconds{});
  }

  using CollectiveKey = std::tuple<std::string, std::string, std::string, std::string,
                                   std::optional<std::int64_t>, std::optional<std::int64_t>>;

  std::map<std::string, NodeCount> operators_;
  ShapeCounts shapes_;
  std::map<CollectiveKey, NodeCollective> collectives_;
  bool has_times_ = false;
  std::size_t issued_ = 0;
  std::size_t specified_ = 0;
  std::size_t waits_ = 0;
  std::size_t waits_paired_ = 0;
};

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
    counts_.add(list_operators(trace, 0));
    add_dependencies(trace, gpu_operators(trace));
  }

  NodeGraphReport take() {
    report_.format = "PyTorch execution trace";
    report_.kinds = sorted(kinds_);
    counts_.take(report_);
    for (std::size_t i = 0; i < dependencies_.size(); ++i)
      report_.dependencies.push_back({.dependency = std::string(kDependencies[i]), .count = dependencies_[i]});
    return std::move(report_);
  }

 private:
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

  NodeGraphReport report_;
  std::map<std::string, NodeCount> kinds_;
  ListCounts counts_;
  std::array<std::size_t, kDependencies.size()> dependencies_{};
};

}  // namespace

NodeGraphReport make_report(const std::vector<ExecutionTrace>& ranks) {
  ReportMaker maker;
  for (const ExecutionTrace& trace : ranks)
    maker.add(trace);
  return maker.take();
}

NodeGraphReport make_report(const OperatorList& list, const std::string& file) {
  NodeGraphReport report;
  report.format = "operator list";
  ListCounts counts;
  for (const RankOperators& rank : list.ranks) {
    std::set<std::int64_t> threads;
    for (const ListedOperator& found : rank.operators)
      threads.insert(found.thread);
    report.files.push_back({.rank = rank.rank,
                            .file = file,
                            .schema = fmt::format("{}", kOperatorListVersion),
                            .nodes = rank.operators.size(),
                            .threads = threads.size()});
    counts.add(rank);
  }
  counts.take(report);
  return report;
}

}}  // namespace c3::traces
