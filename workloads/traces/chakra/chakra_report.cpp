#include "workloads/traces/chakra/chakra_report.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "workloads/traces/chakra/critical_path.hpp"
#include "workloads/traces/kernel_class.hpp"
#include "workloads/traces/shape_counts.hpp"

namespace c3 { inline namespace traces {
namespace {

std::string_view kind_of(const ChakraNode& node) {
  switch (node.type) {
    case ChakraType::collective:
      if (node.is_communication()) return "collective";
      return "operator of the host that calls a collective";
    case ChakraType::send:
      return "send";
    case ChakraType::receive:
      return "receive";
    case ChakraType::compute:
      return node.is_on_host ? "operator of the host" : "GPU work";
    case ChakraType::memory_load:
      return "memory load";
    case ChakraType::memory_store:
      return "memory store";
    case ChakraType::metadata:
      return "metadata";
    case ChakraType::invalid:
      break;
  }
  return "of no known type";
}

class ReportMaker {
 public:
  void add(const ChakraTrace& trace) {
    std::map<std::int64_t, NodeTimes> threads;
    for (const ChakraNode& node : trace.nodes) {
      count(kinds_[std::string(kind_of(node))], trace, node);
      add_time(times_, node);
      if (node.thread) add_time(threads[*node.thread], node);
      if (place_of(node) == ChakraPlace::compute) add_operator(trace, node);
      if (node.is_communication()) add_collective(trace, node);
      control_ += node.control_dependencies;
      data_ += node.data_dependencies;
    }
    for (const auto& [thread, times] : threads) {
      if (!report_.busiest || times.sum() > report_.busiest->sum()) report_.busiest = times;
    }
    report_.files.push_back({.rank = trace.rank,
                             .file = trace.file,
                             .schema = trace.schema,
                             .nodes = trace.nodes.size(),
                             .threads = threads.size()});
    missing_ += missing_dependencies(trace);
    const NodeTimes path = critical_path(trace);
    if (!report_.critical || path.sum() > report_.critical->sum()) report_.critical = path;
  }

  NodeGraphReport take() {
    report_.format = "Chakra trace";
    report_.kinds = by_time(kinds_);
    report_.operators = by_time(operators_);
    report_.shapes = shapes_.take();
    for (auto& [key, collective] : collectives_)
      report_.collectives.push_back(std::move(collective));
    std::ranges::stable_sort(report_.collectives, std::ranges::greater{}, &NodeCollective::time);
    report_.dependencies = {{.dependency = "control", .count = control_},
                            {.dependency = "data", .count = data_},
                            {.dependency = "on a node that is not in the file", .count = missing_}};
    report_.times = times_;
    report_.has_times = true;
    return std::move(report_);
  }

 private:
  void add_operator(const ChakraTrace& trace, const ChakraNode& node) {
    const std::string& name = trace.texts.text(node.name);
    const std::string work(name_of(work_class(EventKind::kernel, name)));
    count(operators_[work], trace, node);
    shapes_.add({.work = work,
                 .name = name,
                 .dims = trace.texts.text(node.shapes),
                 .types = "",
                 .count = 1,
                 .time = node.duration});
  }

  static void count(NodeCount& into, const ChakraTrace& trace, const ChakraNode& node) {
    ++into.count;
    into.time += node.duration;
    if (has_sizes(trace.texts.text(node.shapes))) ++into.with_shapes;
  }

  static std::vector<NodeCount> by_time(std::map<std::string, NodeCount>& counts) {
    std::vector<NodeCount> sorted;
    for (auto& [name, count] : counts) {
      count.name = name;
      sorted.push_back(count);
    }
    std::ranges::stable_sort(sorted, std::ranges::greater{}, &NodeCount::time);
    return sorted;
  }

  void add_collective(const ChakraTrace& trace, const ChakraNode& node) {
    NodeCollective found{.kind = traces::kind_of(node, trace.texts.text(node.name)),
                         .dtype = "",
                         .group = trace.texts.text(node.group),
                         .splits = "",
                         .bytes = node.comm_bytes,
                         .group_size = std::nullopt,
                         .count = 0,
                         .time = {}};
    ++report_.collectives_issued;
    if (!found.kind.empty() && found.bytes && !found.group.empty()) ++report_.collectives_specified;
    NodeCollective& sum =
        collectives_.emplace(std::tuple(found.kind, found.group, found.bytes), found).first->second;
    ++sum.count;
    sum.time += node.duration;
  }

  NodeGraphReport report_;
  std::map<std::string, NodeCount> kinds_;
  std::map<std::string, NodeCount> operators_;
  ShapeCounts shapes_;
  std::map<std::tuple<std::string, std::string, std::optional<std::int64_t>>, NodeCollective> collectives_;
  std::size_t control_ = 0;
  std::size_t data_ = 0;
  std::size_t missing_ = 0;
  NodeTimes times_;
};

}  // namespace

NodeGraphReport make_report(const std::vector<ChakraTrace>& ranks) {
  ReportMaker maker;
  for (const ChakraTrace& trace : ranks)
    maker.add(trace);
  return maker.take();
}

}}  // namespace c3::traces
