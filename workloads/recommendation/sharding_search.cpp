#include "workloads/recommendation/sharding_search.hpp"

#include <algorithm>

#include "engine/errors.hpp"
#include "workloads/recommendation/placement.hpp"

namespace c3 { inline namespace workloads {

ShardingSearch::ShardingSearch(PlacementSpace space, ShardingPlan plan)
    : space_(std::move(space)), plan_(std::move(plan)), asked_(next()) {
  if (!asked_) throw InfeasibleError("no placement of the named sharders fits into the GPUs' memory");
}

std::optional<Sharder> ShardingSearch::asked_of() const {
  if (!asked_ || is_neighbour_) return std::nullopt;
  return plan_.sharders[sharder_ - 1];
}

void ShardingSearch::tell(Seconds time) {
  if (told_ == 0 || time < best_time_) {
    best_ = *asked_;
    best_time_ = time;
  }
  ++told_;
  asked_ = told_ < plan_.placements ? next() : std::nullopt;
}

std::optional<Placement> ShardingSearch::next() {
  while (sharder_ < plan_.sharders.size()) {
    try {
      return place(space_, plan_.sharders[sharder_++], plan_.seed);
    } catch (const InfeasibleError&) {  // the others may fit
    }
  }
  is_neighbour_ = true;
  const bool searches = std::ranges::find(plan_.sharders, Sharder::search) != plan_.sharders.end();
  return searches && told_ > 0 ? neighbour() : std::nullopt;
}

std::optional<Placement> ShardingSearch::neighbour() {
  constexpr int kDraws = 100;  // until one fits
  const std::uint64_t tables = best_.size();
  for (int i = 0; i < kDraws; ++i) {
    const std::uint64_t draw = drawn_number(plan_.seed, drawn_++, tables * tables * 2);
    Placement other = best_;
    const std::size_t first = draw % tables, second = draw / tables % tables;
    if (draw / tables / tables == 0) {
      std::swap(other[first], other[second]);
    } else {
      other[first] = static_cast<int>(second % static_cast<std::uint64_t>(space_.ranks));
    }
    if (other != best_ && fits(space_, other)) return other;
  }
  return std::nullopt;
}

ShardingChoice best_placement(const PlacementSpace& space, const ShardingPlan& plan,
                              const std::function<Seconds(const Placement&)>& judge) {
  ShardingSearch search(space, plan);
  ShardingChoice choice;
  while (search.ask()) {
    const std::optional<Sharder> sharder = search.asked_of();
    const Seconds time = judge(*search.ask());
    if (sharder) choice.sharders.emplace_back(*sharder, time);
    if (search.told() == 0 || time < search.best_time()) choice.found_by = sharder;
    search.tell(time);
  }
  choice.placement = search.best();
  choice.time = search.best_time();
  choice.tried = search.told();
  return choice;
}

RecommendationJob with_placement(RecommendationJob job, const Placement& placement) {
  std::size_t next = 0;
  for (EmbeddingTable& table : job.tables) {
    if (is_free(table)) table.ranks = {placement[next++]};
  }
  return job;
}

RecommendationJob sharded(RecommendationJob job, const ClusterSpec& cluster) {
  if (job.sharder == Sharder::in_turn || std::ranges::none_of(job.tables, is_free)) return job;
  constexpr std::uint64_t kSeed = 0;
  const Placement placement = place(placement_space(job, cluster), job.sharder, kSeed);
  return with_placement(std::move(job), placement);
}

}}  // namespace c3::workloads
