#include "workloads/traces/chakra/node_list.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "workloads/traces/collective_issues.hpp"
#include "workloads/traces/trace_error.hpp"

namespace c3 { inline namespace traces {

void ChakraNodeList::fail(const std::string& what) const {
  throw TraceError({.file = trace_.file, .rank = trace_.rank, .event = position_}, what);
}

void ChakraNodeList::set(ChakraNode& node, std::string_view name, std::int64_t number) {
  if (name == "is_cpu_op") {
    node.says_where = true;
    node.is_on_host = number != 0;
  } else if (name == "tid") {
    node.thread = number;
  } else if (name == "comm_type") {
    node.comm_kind = number;
  } else if (name == "comm_size") {
    if (number < 0) fail(fmt::format("comm_size: {} is negative", number));
    node.comm_bytes = number;
  } else if (name == "pg_name" || name == "comm_group") {
    node.group = trace_.texts.id_of(fmt::format("{}", number));
  }
}

void ChakraNodeList::set(ChakraNode& node, std::string_view name, std::string_view text) {
  if (name == "pg_name" || name == "comm_group") node.group = trace_.texts.id_of(text);
}

void ChakraNodeList::set_metadata(std::string_view name, std::string_view text) {
  if (name == "schema" || name == "version") trace_.schema = text;
}

void ChakraNodeList::set_metadata(std::string_view name, std::int64_t number) {
  constexpr std::int64_t kMostRanks = 10'000'000;
  if (name == "rank" && number >= 0 && number <= kMostRanks) trace_.rank = static_cast<int>(number);
}

Picoseconds ChakraNodeList::time(std::uint64_t microseconds, std::string_view name) const {
  constexpr std::uint64_t kMost = std::uint64_t{50} * 86'400 * 1'000'000;
  if (microseconds > kMost) fail(fmt::format("{}: {} us is more than 50 days", name, microseconds));
  return {static_cast<std::int64_t>(microseconds) * 1'000'000};
}

void ChakraNodeList::add(ChakraNode node, const std::vector<std::uint64_t>& control,
                         const std::vector<std::uint64_t>& data) {
  constexpr std::size_t kMost = 0xFFFFFFFF;
  if (trace_.dependencies.size() + control.size() + data.size() > kMost)
    fail("more than 4 G dependencies in one trace");
  node.position = position_;
  node.first_dependency = static_cast<std::uint32_t>(trace_.dependencies.size());
  node.control_dependencies = static_cast<std::uint32_t>(control.size());
  node.data_dependencies = static_cast<std::uint32_t>(data.size());
  trace_.dependencies.insert(trace_.dependencies.end(), control.begin(), control.end());
  trace_.dependencies.insert(trace_.dependencies.end(), data.begin(), data.end());
  trace_.nodes.push_back(node);
}

ChakraTrace ChakraNodeList::take() {
  if (trace_.nodes.empty()) throw TraceError({.file = trace_.file, .rank = {}, .event = {}}, "it has no nodes");
  std::ranges::stable_sort(trace_.nodes, {}, &ChakraNode::id);
  const auto twice = std::ranges::adjacent_find(trace_.nodes, {}, &ChakraNode::id);
  if (twice != trace_.nodes.end()) {
    position_ = std::next(twice)->position;
    fail(fmt::format("event {} has the id {} as well", twice->position, twice->id));
  }
  return std::move(trace_);
}

std::string kind_of(const ChakraNode& node, const std::string& name) {
  constexpr std::array<std::string_view, 10> kKinds{
      "all_reduce", "reduce",     "all_gather",     "gather",         "scatter",
      "broadcast",  "all_to_all", "reduce_scatter", "reduce_scatter", "barrier"};
  if (node.type == ChakraType::send) return "send";
  if (node.type == ChakraType::receive) return "recv";
  if (node.comm_kind && *node.comm_kind >= 0 && *node.comm_kind < static_cast<std::int64_t>(kKinds.size()))
    return std::string(kKinds[static_cast<std::size_t>(*node.comm_kind)]);
  return collective_kind(name);
}

}}  // namespace c3::traces
