#pragma once
/// A search of placements that asks for their times.

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "workloads/recommendation/sharders.hpp"

namespace c3 { inline namespace workloads {

/// What a search tries.
struct ShardingPlan {
  std::vector<Sharder> sharders = {Sharder::search,  Sharder::in_turn,    Sharder::random, Sharder::by_rows,
                                   Sharder::by_size, Sharder::by_lookups, Sharder::by_time};  ///< in this order
  int placements = 40;     ///< most that are asked for
  std::uint64_t seed = 0;  ///< of random ones

  bool operator==(const ShardingPlan&) const = default;
};

/// Ask for a placement, tell its time, and ask again. First come those of the plan's sharders that fit, then,
/// if `search` is one of them, neighbours of the best that was told, drawn at random.
class ShardingSearch {
 public:
  /// \throws InfeasibleError when no sharder's placement fits
  ShardingSearch(PlacementSpace space, ShardingPlan plan);

  /// Absent: there is nothing more to try.
  const std::optional<Placement>& ask() const { return asked_; }
  std::optional<Sharder> asked_of() const;  ///< whose that is; absent: a neighbour
  void tell(Seconds time);                  ///< of the one asked for
  const Placement& best() const { return best_; }
  Seconds best_time() const { return best_time_; }
  int told() const { return told_; }

 private:
  std::optional<Placement> next();
  std::optional<Placement> neighbour();

  PlacementSpace space_;
  ShardingPlan plan_;
  std::size_t sharder_ = 0;  ///< of the plan, that comes next
  int told_ = 0;
  std::uint64_t drawn_ = 0;
  bool is_neighbour_ = false;
  std::optional<Placement> asked_;
  Placement best_;
  Seconds best_time_;
};

/// What became of a search.
struct ShardingChoice {
  Placement placement;
  Seconds time;
  int tried = 0;
  std::optional<Sharder> found_by = std::nullopt;          ///< absent: a neighbour
  std::vector<std::pair<Sharder, Seconds>> sharders = {};  ///< times of theirs
};
/// The best placement of a whole search. \param judge finds the time of a step with its tables placed so
ShardingChoice best_placement(const PlacementSpace& space, const ShardingPlan& plan,
                              const std::function<Seconds(const Placement&)>& judge);

/// \p job with its free tables where \p placement has them, in their order.
RecommendationJob with_placement(RecommendationJob job, const Placement& placement);
/// \p job with its free tables where its sharder puts them.
RecommendationJob sharded(RecommendationJob job, const ClusterSpec& cluster);

}}  // namespace c3::workloads
