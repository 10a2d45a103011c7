#include "workloads/traces/rank_copies.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "workloads/traces/trace_error.hpp"

namespace c3 { inline namespace traces {
namespace {

constexpr std::size_t kMostActivities = 2'000'000;

[[noreturn]] void refuse(const Trace& trace, const std::string& what) {
  throw TraceSetError({.file = trace.file, .rank = trace.rank, .event = std::nullopt}, what);
}

/// The group of \p rank that corresponds to \p group.
const ProcessGroup& counterpart(const Trace& trace, const ProcessGroup& group, int rank) {
  const auto found = std::ranges::find_if(trace.groups, [&](const ProcessGroup& other) {
    return other.description == group.description && std::ranges::find(other.ranks, rank) != other.ranks.end();
  });
  if (found == trace.groups.end())
    refuse(trace, fmt::format("it stands for rank {}, which is in no process group '{}' of pg_config", rank,
                              group.description));
  return *found;
}

void move_to_groups_of(int rank, Trace& trace) {
  for (CollectiveArguments& arguments : trace.collective_arguments) {
    const std::string& name = trace.texts.text(arguments.group);
    if (name.empty()) continue;  // a message
    const auto own = std::ranges::find(trace.groups, name, &ProcessGroup::name);
    if (own == trace.groups.end())
      refuse(trace, fmt::format("pg_config has no process group '{}', which a collective is in", name));
    const ProcessGroup& copied = counterpart(trace, *own, rank);
    if (arguments.ranks != 0)
      arguments.ranks = trace.texts.id_of(fmt::format("[{}]", fmt::join(copied.ranks, ", ")));
    arguments.group = trace.texts.id_of(copied.name);
  }
}

}  // namespace

std::vector<Trace> traces_of_ranks(Trace trace) {
  std::vector<int> ranks;
  for (const auto& [first, last] : trace.represented) {
    for (int rank = first; rank <= last; ++rank)
      ranks.push_back(rank);
  }
  std::vector<Trace> traces;
  if (ranks.size() < 2) {
    traces.push_back(std::move(trace));
    return traces;
  }
  if (trace.activities.size() > kMostActivities / ranks.size())
    refuse(trace, fmt::format(
                      "it stands for {} ranks of {} kernels and copies each: at most {} in all can be imported",
                      ranks.size(), trace.activities.size(), kMostActivities));
  for (const int rank : ranks) {
    Trace& copy = traces.emplace_back(trace);
    move_to_groups_of(rank, copy);
    copy.rank = rank;
  }
  return traces;
}

}}  // namespace c3::traces
