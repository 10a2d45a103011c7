#include "workloads/traces/execution/group_ranks.hpp"

#include <algorithm>

#include "base/json.hpp"

namespace c3::inline traces {
namespace {

constexpr std::int64_t kMostRanks = 10'000'000;
constexpr std::string_view kWholeJob = "default_pg";  // what c10d calls the group of all ranks

std::string text_in(const Json& object, std::string_view key) {
  return object.contains(key) && object[key].is_text() ? object[key].text() : "";
}

ExecutionGroup group_in(const Json& object) {
  ExecutionGroup group{
      .name = text_in(object, "pg_name"), .description = text_in(object, "pg_desc"), .ranks = {}, .size = 0};
  if (object.contains("group_size") && object["group_size"].is_integer())
    group.size = object["group_size"].integer();
  if (object.contains("ranks") && object["ranks"].is_array()) {
    for (const Json& rank : object["ranks"].elements()) {
      if (rank.is_integer()) group.ranks.push_back(rank.integer());
    }
  }
  return group;
}

bool is_whole_job(const ExecutionTrace& trace, const ExecutionCollective& collective) {
  return trace.texts.text(collective.arguments.group_description) == kWholeJob;
}

/// The issue whose group is the largest, among groups in which this one's rank is known: of several ranks, or
/// the whole job.
const ExecutionCollective* of_largest_group(const ExecutionTrace& trace) {
  const ExecutionCollective* largest = nullptr;
  for (const ExecutionCollective& collective : trace.collectives) {
    const std::int64_t size = collective.arguments.group_size.value_or(0);
    if (collective.is_wait || !collective.group_rank) continue;
    if (size < (is_whole_job(trace, collective) ? 1 : 2)) continue;
    if (*collective.group_rank >= size || size > kMostRanks) continue;
    if (largest == nullptr || size > *largest->arguments.group_size) largest = &collective;
  }
  return largest;
}

}  // namespace

std::vector<ExecutionGroup> read_groups(std::string_view json) {
  std::vector<ExecutionGroup> groups;
  try {
    const Json list = Json::parse(json);
    if (!list.is_array()) return groups;
    for (const Json& object : list.elements()) {
      if (object.is_object()) groups.push_back(group_in(object));
    }
  } catch (const JsonError&) {
    return {};
  }
  return groups;
}

void set_rank(ExecutionTrace& trace) {
  const ExecutionCollective* const largest = of_largest_group(trace);
  if (largest == nullptr) return;
  const bool whole = is_whole_job(trace, *largest);
  if (whole) trace.world_size = static_cast<int>(*largest->arguments.group_size);
  if (largest->first_rank && largest->rank_stride) {
    std::int64_t rank = 0;
    if (__builtin_mul_overflow(*largest->group_rank, *largest->rank_stride, &rank) ||
        __builtin_add_overflow(rank, *largest->first_rank, &rank) || rank > kMostRanks)
      return;
    trace.rank = static_cast<int>(rank);
  } else if (whole) {
    trace.rank = static_cast<int>(*largest->group_rank);
  }
}

std::optional<int> rank_in_largest_group(const ExecutionTrace& trace) {
  const ExecutionCollective* const largest = of_largest_group(trace);
  if (largest == nullptr) return std::nullopt;
  return static_cast<int>(*largest->group_rank);
}

}  // namespace c3::traces
