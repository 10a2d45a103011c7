#include "workloads/traces/execution/group_ranks.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json.hpp"

namespace c3 { inline namespace traces {
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

/// The rank in the job of \p rank of a collective's group: as listed, else by first rank and stride, which are
/// only right for groups of even distances.
/// \param group the collective's one in the list of groups; null if there is none
std::optional<std::int64_t> rank_in_job(const ExecutionGroup* group, const ExecutionCollective& collective,
                                        std::int64_t rank) {
  std::int64_t result = 0;
  if (group != nullptr && !group->ranks.empty()) {
    if (rank >= static_cast<std::int64_t>(group->ranks.size())) return std::nullopt;
    result = group->ranks[static_cast<std::size_t>(rank)];
  } else {
    if (!collective.first_rank || !collective.rank_stride) return std::nullopt;
    if (__builtin_mul_overflow(rank, *collective.rank_stride, &result) ||
        __builtin_add_overflow(result, *collective.first_rank, &result))
      return std::nullopt;
  }
  return result >= 0 && result <= kMostRanks ? std::optional(result) : std::nullopt;
}

/// "[0, 2, 4]", as Kineto writes it. Longer lists are cut off there, so they are not written.
std::string ranks_text(const ExecutionGroup* group, const ExecutionCollective& collective) {
  constexpr std::int64_t kMost = 30;
  const std::int64_t size = collective.arguments.group_size.value_or(0);
  if (collective.is_wait || size < 2 || size > kMost) return "";
  std::vector<std::int64_t> ranks;
  for (std::int64_t i = 0; i < size; ++i) {
    const std::optional<std::int64_t> rank = rank_in_job(group, collective, i);
    if (!rank) return "";
    ranks.push_back(*rank);
  }
  return fmt::format("[{}]", fmt::join(ranks, ", "));
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

void complete_groups(ExecutionTrace& trace) {
  std::unordered_map<std::string_view, const ExecutionGroup*> groups;
  for (const ExecutionGroup& group : trace.groups)
    groups.emplace(group.name, &group);
  for (ExecutionCollective& collective : trace.collectives) {
    const auto found = groups.find(trace.texts.text(collective.arguments.group));
    const bool is_listed = found != groups.end() && collective.arguments.group != 0;
    const ExecutionGroup* const group = is_listed ? found->second : nullptr;
    if (group != nullptr && !collective.arguments.group_size && group->size > 0)
      collective.arguments.group_size = group->size;
    collective.arguments.ranks = trace.texts.id_of(ranks_text(group, collective));
  }
}

void set_rank(ExecutionTrace& trace) {
  const ExecutionCollective* const largest = of_largest_group(trace);
  if (largest == nullptr) return;
  const bool whole = is_whole_job(trace, *largest);
  if (whole) trace.world_size = static_cast<int>(*largest->arguments.group_size);
  const std::string& name = trace.texts.text(largest->arguments.group);
  const auto group = std::ranges::find(trace.groups, name, &ExecutionGroup::name);
  const bool is_listed = group != trace.groups.end() && !name.empty();
  std::optional<std::int64_t> rank = rank_in_job(is_listed ? &*group : nullptr, *largest, *largest->group_rank);
  if (!rank && whole) rank = largest->group_rank;
  if (rank) trace.rank = static_cast<int>(*rank);
}

std::optional<int> rank_in_largest_group(const ExecutionTrace& trace) {
  const ExecutionCollective* const largest = of_largest_group(trace);
  if (largest == nullptr) return std::nullopt;
  return static_cast<int>(*largest->group_rank);
}

}}  // namespace c3::traces
