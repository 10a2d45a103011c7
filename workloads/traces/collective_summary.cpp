#include "workloads/traces/collective_summary.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/statistics.hpp"

namespace c3 { inline namespace traces {
namespace {

using Likeness = std::tuple<std::string, std::string, std::string, std::int64_t, std::int64_t>;

Likeness likeness(const CollectiveKernel& kernel) {
  return {kernel.kind, kernel.dtype, kernel.splits, kernel.bytes.value_or(-1), kernel.group_size.value_or(-1)};
}

void add_unspecified(const Rank& rank, const CollectiveKernel& kernel, ImportReport& report) {
  const TraceEvent& event = rank.trace.activities[kernel.activity];
  report.unspecified.push_back({.rank = rank.trace.rank,
                                .event = event.position,
                                .kernel = rank.trace.name_of(event),
                                .missing = kernel.missing(),
                                .before_window = rank.join.launch_of[kernel.activity] == kNoIndex});
}

/// [ranks][their collectives]
std::vector<std::vector<bool>> matched_collectives(const std::vector<Rank>& ranks,
                                                   const std::vector<CollectiveInstance>& instances) {
  std::vector<std::vector<bool>> is_matched;
  for (const Rank& rank : ranks)
    is_matched.emplace_back(rank.collectives.size(), false);
  for (const CollectiveInstance& instance : instances) {
    for (const CollectiveMember& member : instance.members)
      is_matched[member.rank][member.collective] = true;
  }
  return is_matched;
}

/// Waiting of kernels without their partners, from the \p durations of those that are alike.
void add_least_waiting(const std::vector<Picoseconds>& durations, CollectiveSummary& summary,
                       ImportReport& report) {
  const Picoseconds shortest = durations.empty() ? Picoseconds{} : std::ranges::min(durations);
  for (const Picoseconds duration : durations)
    summary.waiting_at_least += duration - shortest;
  report.waiting_at_least += summary.waiting_at_least;
}

void add_stragglers(const std::map<int, std::vector<Picoseconds>>& late, ImportReport& report) {
  for (const auto& [rank, times] : late) {
    Picoseconds sum;
    for (const Picoseconds time : times)
      sum += time;
    report.stragglers.push_back({.rank = rank,
                                 .last = times.size(),
                                 .mean_late = {sum.count / static_cast<std::int64_t>(times.size())},
                                 .worst_late = std::ranges::max(times)});
  }
  std::ranges::stable_sort(report.stragglers, std::ranges::greater{}, &LateRank::last);
}

}  // namespace

void add_collectives(const std::vector<Rank>& ranks, const std::vector<CollectiveInstance>& instances,
                     const std::vector<Picoseconds>& shifts, ImportReport& report) {
  std::map<Likeness, CollectiveSummary> alike;
  std::map<Likeness, std::vector<Picoseconds>> unmatched;  // durations
  const std::vector<std::vector<bool>> is_matched = matched_collectives(ranks, instances);
  for (std::size_t number = 0; number < ranks.size(); ++number) {
    const Rank& rank = ranks[number];
    for (std::size_t i = 0; i < rank.collectives.size(); ++i) {
      const CollectiveKernel& kernel = rank.collectives[i];
      ++report.collective_kernels;
      CollectiveSummary& summary = alike[likeness(kernel)];
      summary.kind = kernel.kind;
      summary.dtype = kernel.dtype;
      summary.splits = kernel.splits;
      summary.bytes = kernel.bytes;
      summary.group_size = kernel.group_size;
      ++summary.kernels;
      summary.recorded += rank.trace.activities[kernel.activity].duration;
      if (!is_matched[number][i]) {
        report.unmatched += rank.trace.activities[kernel.activity].duration;
        // If sizes differ, a longer one need not have waited.
        if (!kernel.kind.empty() && kernel.bytes)
          unmatched[likeness(kernel)].push_back(rank.trace.activities[kernel.activity].duration);
      }
      if (!kernel.is_specified()) add_unspecified(rank, kernel, report);
    }
  }
  std::map<int, std::vector<Picoseconds>> late;
  std::map<Likeness, std::vector<Picoseconds>> costs;  // of whole instances
  for (const CollectiveInstance& instance : instances) {
    ++(instance.has_sequence ? report.matched_by_sequence : report.matched_by_order);
    const CollectiveTiming timing = timing_of(instance, ranks, shifts);
    const CollectiveMember& member = instance.members.front();
    const Likeness key = likeness(ranks[member.rank].collectives[member.collective]);
    CollectiveSummary& summary = alike.at(key);
    ++summary.instances;
    if (!instance.is_whole) ++summary.partial;
    (instance.is_whole ? summary.cost : summary.cost_at_most) += timing.cost;
    for (const CollectiveMember& arrival : instance.members) {
      const Rank& rank = ranks[arrival.rank];
      const TraceEvent& event = rank.trace.activities[rank.collectives[arrival.collective].activity];
      (instance.is_whole ? summary.waiting : summary.waiting_at_least) +=
          timing.latest_start - (event.start + shifts[arrival.rank]);
    }
    if (instance.is_whole) costs[key].push_back(timing.cost);
    if (instance.is_whole) late[ranks[timing.last_rank].number()].push_back(timing.late_by);
  }
  for (auto& [key, summary] : alike) {
    report.partial += summary.partial;
    report.true_cost += summary.cost;
    report.cost_at_most += summary.cost_at_most;
    report.waiting += summary.waiting;
    if (const auto known_costs = costs.find(key); known_costs != costs.end())
      summary.median_cost = lower_median(known_costs->second);
    add_least_waiting(unmatched[key], summary, report);
    report.collectives.push_back(std::move(summary));
  }
  std::ranges::stable_sort(report.collectives, std::ranges::greater{}, &CollectiveSummary::recorded);
  add_stragglers(late, report);
}

}}  // namespace c3::traces
