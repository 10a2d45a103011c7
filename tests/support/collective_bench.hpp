#pragma once
/// Runs one collective on an otherwise idle cluster.

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "collectives/group_runs.hpp"
#include "tests/support/recording.hpp"

namespace c3::test {

class CollectiveBench {
 public:
  /// A plan without CUs gets all. Every group of its call runs.
  CollectiveBench(const ClusterSpec& cluster, CollectivePlan plan, bool folded = true, Isolation isolation = {})
      : spec_(cluster),
        simulation_(&recording),
        cluster_(simulation_, spec_, {.gpu = {.streams = {"comm"}, .isolation = isolation}, .folded = folded}) {
    if (plan.range.size() == 0) plan.range = {0, cluster.gpu.compute.cus_per_xcd};
    const auto plan_of = [&plan](const CollectiveCall& of_group) {
      CollectivePlan planned = plan;
      planned.call = of_group;
      return planned;
    };
    runs_ = GroupRuns(cluster_, plan.call, /*on=*/{}, plan_of);
    ended.resize(static_cast<std::size_t>(cluster_.simulated_ranks()));
  }

  /// Rank r joins delays[r] after the start, never when that is negative or r is not in the group. \returns the
  /// date of the last end.
  Seconds run(const std::vector<Seconds>& delays) {
    for (std::size_t rank = 0; rank < delays.size(); ++rank) {
      if (delays[rank] < Seconds{} || runs_.of(static_cast<int>(rank)) == nullptr) continue;
      names_.push_back(fmt::format("rank {}", rank));
      simulation_.spawn(names_.back(), take_part(this, static_cast<int>(rank), delays[rank]));
    }
    simulation_.run();
    return *std::ranges::max_element(ended);
  }
  /// All ranks join \p delay after the start.
  Seconds run(Seconds delay = {}) { return run(std::vector<Seconds>(ended.size(), delay)); }

  int simulated_ranks() const { return cluster_.simulated_ranks(); }

  Recording recording;
  std::vector<Seconds> ended;  ///< by simulated rank

 private:
  static Task take_part(CollectiveBench* bench, int rank, Seconds delay) {
    CollectiveRun& run = *bench->runs_.of(rank);
    co_await run.join(rank, delay, nullptr);
    bench->ended[static_cast<std::size_t>(rank)] = bench->simulation_.now();
  }

  const ClusterSpec spec_;
  Simulation simulation_;
  Cluster cluster_;
  GroupRuns runs_;
  std::deque<std::string> names_;
};

}  // namespace c3::test
