#include "workloads/traces/rank_set.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace c3::inline traces {
namespace {

TracePlace place_of(const Rank& rank) {
  return {.file = rank.trace.file, .rank = rank.trace.rank, .event = std::nullopt};
}

std::string listed(const std::vector<int>& numbers) {
  constexpr std::size_t kMost = 10;
  const std::size_t shown = std::min(numbers.size(), kMost);
  return fmt::format("{}{}", fmt::join(std::span(numbers).first(shown), ", "),
                     numbers.size() > shown ? ", .." : "");
}

}  // namespace

void order_ranks(std::vector<Rank>& ranks, bool allow_missing) {
  if (ranks.size() < 2) return;
  for (const Rank& rank : ranks) {
    if (!rank.trace.rank)
      throw TraceSetError(place_of(rank),
                          "it has no distributedInfo with a rank: only a single file may lack it");
  }
  std::ranges::stable_sort(ranks, {}, &Rank::number);
  const auto twice = std::ranges::adjacent_find(ranks, {}, &Rank::number);
  if (twice != ranks.end())
    throw TraceSetError(place_of(*std::next(twice)),
                        fmt::format("{} is of this rank as well", twice->trace.file));
  const std::vector<int> missing = missing_ranks(ranks);
  if (missing.empty() || allow_missing) return;
  throw TraceSetError(
      place_of(ranks.front()),
      fmt::format("{} of the job's ranks are missing: {}; name the files of all ranks or of one, or "
                  "give --allow-missing",
                  missing.size(), listed(missing)));
}

std::vector<int> missing_ranks(const std::vector<Rank>& ranks) {
  int world = 0;
  std::set<int> present;
  for (const Rank& rank : ranks) {
    world = std::max(world, rank.trace.world_size.value_or(0));
    present.insert(rank.number());
  }
  std::vector<int> missing;
  for (int number = 0; number < world; ++number) {
    if (!present.contains(number)) missing.push_back(number);
  }
  return missing;
}

}  // namespace c3::traces
