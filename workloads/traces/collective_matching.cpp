#include "workloads/traces/collective_matching.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "base/statistics.hpp"
#include "workloads/traces/rank_set.hpp"

namespace c3 { inline namespace traces {
namespace {

constexpr Picoseconds kOneClock = 50_us;

const TraceEvent& event_of(const CollectiveMember& member, const std::vector<Rank>& ranks) {
  const Rank& rank = ranks[member.rank];
  return rank.trace.activities[rank.collectives[member.collective].activity];
}

/// Names the groups of one rank so that other ranks have the same names.
class GroupNames {
 public:
  std::string name(const CollectiveKernel& kernel, std::uint32_t queue) {
    if (kernel.has_group_name) return kernel.group;
    // Without metadata, a communicator has a queue of its own.
    const std::string local = kernel.group.empty() ? fmt::format("queue {}", queue) : kernel.group;
    const std::int64_t size = kernel.group_size.value_or(0);
    auto& known = groups_[size];
    const auto found = std::ranges::find(known, local);
    const auto place = found - known.begin();
    if (found == known.end()) known.push_back(local);
    return fmt::format("group {} of {} ranks", place, size);
  }

 private:
  std::map<std::int64_t, std::vector<std::string>> groups_;
};

/// Group, whether the number is a sequence number, number, repetition of it.
using Key = std::tuple<std::string, bool, std::int64_t, int>;

class Matcher {
 public:
  explicit Matcher(const std::vector<Rank>& ranks)
      : ranks_(ranks), has_all_ranks_(missing_ranks(ranks).empty()) {
    for (std::uint32_t rank = 0; rank < ranks.size(); ++rank)
      add_rank(rank);
  }

  std::vector<CollectiveInstance> instances() const {
    std::vector<CollectiveInstance> found;
    for (const auto& [key, members] : members_) {
      const bool has_sequence = std::get<1>(key);
      if (members.size() < 2 || (!has_sequence && !is_counted_alike(std::get<0>(key)))) continue;
      check(members);
      found.push_back({.members = members, .has_sequence = has_sequence, .is_whole = is_whole(members)});
    }
    return found;
  }

 private:
  void add_rank(std::uint32_t rank) {
    GroupNames names;
    std::map<std::string, std::int64_t> ordinals;
    std::map<std::pair<std::string, std::int64_t>, int> repetitions;
    const Rank& data = ranks_[rank];
    for (std::uint32_t i = 0; i < data.collectives.size(); ++i) {
      const CollectiveKernel& kernel = data.collectives[i];
      if (kernel.kind == "send" || kernel.kind == "recv") continue;
      const std::string group = names.name(kernel, data.trace.activities[kernel.activity].track);
      const bool is_small = !kernel.has_group_name && kernel.group_size &&
                            *kernel.group_size < static_cast<std::int64_t>(ranks_.size());
      if (is_small) continue;  // which ranks are in it is not known
      const std::int64_t ordinal = ordinals[group]++;
      const std::int64_t number = kernel.sequence.value_or(ordinal);
      const int repetition = kernel.sequence ? repetitions[{group, number}]++ : 0;
      members_[Key{group, kernel.sequence.has_value(), number, repetition}].push_back(
          {.rank = rank, .collective = i});
      ++counts_[group][rank];
    }
  }

  bool is_counted_alike(const std::string& group) const {
    const auto& counts = counts_.at(group);
    return std::ranges::all_of(counts,
                               [&](const auto& count) { return count.second == counts.begin()->second; });
  }

  const CollectiveKernel& kernel_of(const CollectiveMember& member) const {
    return ranks_[member.rank].collectives[member.collective];
  }

  bool is_whole(const std::vector<CollectiveMember>& members) const {
    const std::optional<std::int64_t> size = kernel_of(members.front()).group_size;
    return size ? std::ssize(members) >= *size : has_all_ranks_;
  }

  void check(const std::vector<CollectiveMember>& members) const {
    const CollectiveKernel& first = kernel_of(members.front());
    for (const CollectiveMember& member : members) {
      const CollectiveKernel& other = kernel_of(member);
      const bool is_uneven = first.kind == "all_to_all" || first.kind == "send_recv";
      const bool same_bytes = is_uneven || !first.bytes || !other.bytes || *first.bytes == *other.bytes;
      if (first.kind == other.kind && same_bytes) continue;
      const auto text = [](const CollectiveKernel& kernel) {
        return fmt::format("{} of {} B", kernel.kind, kernel.bytes.value_or(0));
      };
      const Rank& other_rank = ranks_[members.front().rank];
      throw TraceSetError(
          ranks_[member.rank].place(event_of(member, ranks_)),
          fmt::format("{} is matched with {} of rank {} (event {}): members of a collective must "
                      "have one kind and size",
                      text(other), text(first), other_rank.number(),
                      event_of(members.front(), ranks_).position));
    }
  }

  const std::vector<Rank>& ranks_;
  bool has_all_ranks_;
  std::map<Key, std::vector<CollectiveMember>> members_;
  std::map<std::string, std::map<std::uint32_t, std::int64_t>> counts_;
};

std::vector<Picoseconds> from_common_origin(const std::vector<Rank>& ranks) {
  WidePicoseconds first = ranks.front().trace.origin;
  for (const Rank& rank : ranks)
    first = std::min(first, rank.trace.origin);
  std::vector<Picoseconds> shifts;
  for (const Rank& rank : ranks)
    // Clocks that are more than 106 days apart have nothing to do with each other.
    shifts.push_back(narrowed((rank.trace.origin - first) * 2) ? *narrowed(rank.trace.origin - first)
                                                               : Picoseconds{});
  return shifts;
}

std::vector<Picoseconds> ends_of(const CollectiveInstance& instance, const std::vector<Rank>& ranks,
                                 const std::vector<Picoseconds>& shifts) {
  std::vector<Picoseconds> ends;
  for (const CollectiveMember& member : instance.members)
    ends.push_back(event_of(member, ranks).end() + shifts[member.rank]);
  return ends;
}

}  // namespace

std::vector<CollectiveInstance> match_collectives(const std::vector<Rank>& ranks) {
  return Matcher(ranks).instances();
}

Clocks align_clocks(const std::vector<Rank>& ranks, const std::vector<CollectiveInstance>& instances) {
  Clocks clocks{.shifts = from_common_origin(ranks),
                .offsets = std::vector<Picoseconds>(ranks.size()),
                .corrected = std::vector<bool>(ranks.size(), false),
                .spread_median = {},
                .spread_worst = {}};
  std::vector<std::vector<Picoseconds>> offsets(ranks.size());
  for (const CollectiveInstance& instance : instances) {
    const std::vector<Picoseconds> ends = ends_of(instance, ranks, clocks.shifts);
    const Picoseconds middle = upper_median(ends);
    for (std::size_t i = 0; i < ends.size(); ++i)
      offsets[instance.members[i].rank].push_back(ends[i] - middle);
  }
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (offsets[rank].empty()) continue;
    clocks.offsets[rank] = upper_median(offsets[rank]);
    clocks.corrected[rank] =
        clocks.offsets[rank] > kOneClock || clocks.offsets[rank] < Picoseconds{-kOneClock.count};
    if (clocks.corrected[rank]) clocks.shifts[rank] = clocks.shifts[rank] - clocks.offsets[rank];
  }
  std::vector<Picoseconds> spreads;
  for (const CollectiveInstance& instance : instances) {
    const std::vector<Picoseconds> ends = ends_of(instance, ranks, clocks.shifts);
    spreads.push_back(std::ranges::max(ends) - std::ranges::min(ends));
  }
  if (!spreads.empty()) {
    clocks.spread_median = upper_median(spreads);
    clocks.spread_worst = std::ranges::max(spreads);
  }
  return clocks;
}

CollectiveTiming timing_of(const CollectiveInstance& instance, const std::vector<Rank>& ranks,
                           const std::vector<Picoseconds>& shifts) {
  CollectiveTiming timing;
  bool is_first = true;
  for (const CollectiveMember& member : instance.members) {
    const Picoseconds start = event_of(member, ranks).start + shifts[member.rank];
    if (is_first || start > timing.latest_start) {
      timing.latest_start = start;
      timing.last_rank = member.rank;
    }
    is_first = false;
  }
  std::vector<Picoseconds> others;
  for (const CollectiveMember& member : instance.members) {
    if (member.rank != timing.last_rank) others.push_back(event_of(member, ranks).start + shifts[member.rank]);
  }
  timing.median_end = upper_median(ends_of(instance, ranks, shifts));
  timing.late_by = timing.latest_start - upper_median(others);
  timing.cost = timing.median_end - timing.latest_start;
  return timing;
}

}}  // namespace c3::traces
