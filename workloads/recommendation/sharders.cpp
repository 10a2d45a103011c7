#include "workloads/recommendation/sharders.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <ranges>
#include <utility>

#include <fmt/format.h>

#include "engine/errors.hpp"
#include "engine/random.hpp"
#include "gpu/kernel_time.hpp"
#include "gpu/kernels/describe.hpp"
#include "gpu/kernels/embedding/embedding_kernel.hpp"
#include "interconnect/spec.hpp"
#include "workloads/recommendation/placement.hpp"

namespace c3::inline workloads {
namespace {

Seconds time_alone_of(const Operator& op, const GpuSpec& gpu) {
  return time_alone(describe("table", op, gpu), gpu, {.launch = LaunchCost::device}).time;
}

double weight(const TableCost& cost, Sharder sharder) {
  switch (sharder) {
    case Sharder::by_rows:
      return cost.rows;
    case Sharder::by_size:
      return cost.memory.value;
    case Sharder::by_lookups:
      return cost.lookups;
    default:
      return cost.time.value;
  }
}

/// What each rank has of something.
template <class Of>
std::vector<double> by_rank(const PlacementSpace& space, const Placement& placement, Of of) {
  std::vector<double> sums(static_cast<std::size_t>(space.ranks));
  for (std::size_t i = 0; i < placement.size(); ++i)
    sums[static_cast<std::size_t>(placement[i])] += of(space.costs[i]);
  return sums;
}

/// \param time of the rank with most lookups \param sums of the one that sends most
Seconds bound(const PlacementSpace& space, double time, double sums) {
  const double others = (space.ranks - 1.0) / space.ranks;
  return Seconds{time} + Bytes{2.0 * others * sums} / space.rate;
}

/// What each rank has in a placement, and the bound when two ranks change.
class RankLoads {
 public:
  RankLoads(const PlacementSpace& space, const Placement& placement)
      : space_(&space),
        times_(by_rank(space, placement, [](const TableCost& cost) { return cost.time.value; })),
        sums_(by_rank(space, placement, [](const TableCost& cost) { return cost.sums.value; })),
        memory_(by_rank(space, placement, [](const TableCost& cost) { return cost.memory.value; })),
        longest_(largest(times_)),
        fullest_(largest(sums_)) {}

  int longest() const { return longest_.front(); }

  /// least_time() with a table of \p from on \p to, and one that costs \p back the other way; absent where
  /// memory does not suffice.
  std::optional<Seconds> moved(const TableCost& table, int from, int to, const TableCost& back = {}) const {
    const double more = (table.memory - back.memory).value;
    if (memory_of(to) + more > space_->memory.value || memory_of(from) - more > space_->memory.value)
      return std::nullopt;
    const double time = largest_with(times_, longest_, from, to, (table.time - back.time).value);
    const double sums = largest_with(sums_, fullest_, from, to, (table.sums - back.sums).value);
    return bound(*space_, time, sums);
  }

 private:
  static constexpr std::size_t kKept = 3;  // one of which is neither of two ranks

  /// The ranks with most, the first of all first.
  static std::vector<int> largest(const std::vector<double>& of) {
    std::vector<int> ranks(of.size());
    std::iota(ranks.begin(), ranks.end(), 0);
    const auto kept = ranks.begin() + static_cast<std::ptrdiff_t>(std::min(kKept, ranks.size()));
    const auto has_more = [&](int a, int b) {
      const double one = of[static_cast<std::size_t>(a)], other = of[static_cast<std::size_t>(b)];
      return one != other ? one > other : a < b;
    };
    std::partial_sort(ranks.begin(), kept, ranks.end(), has_more);
    ranks.erase(kept, ranks.end());
    return ranks;
  }

  /// The largest of \p of when \p more goes from one rank to another.
  static double largest_with(const std::vector<double>& of, const std::vector<int>& most, int from, int to,
                             double more) {
    double largest =
        std::max(of[static_cast<std::size_t>(from)] - more, of[static_cast<std::size_t>(to)] + more);
    for (const int rank : most) {
      if (rank != from && rank != to) largest = std::max(largest, of[static_cast<std::size_t>(rank)]);
    }
    return largest;
  }

  double memory_of(int rank) const { return memory_[static_cast<std::size_t>(rank)]; }

  const PlacementSpace* space_;
  std::vector<double> times_, sums_, memory_;
  std::vector<int> longest_, fullest_;  ///< of times_, of sums_
};

/// Tables one after another, or each where it falls.
Placement dealt(const PlacementSpace& space, bool at_random, std::uint64_t seed) {
  const auto ranks = static_cast<std::uint64_t>(space.ranks);
  Placement placement(space.costs.size());
  for (std::size_t i = 0; i < placement.size(); ++i)
    placement[i] = static_cast<int>(at_random ? drawn_number(seed, i, ranks) : i % ranks);
  if (!fits(space, placement)) throw InfeasibleError("a rank has no room for the tables that it is dealt");
  return placement;
}

Placement largest_first(const PlacementSpace& space, Sharder sharder) {
  const auto ranks = static_cast<std::size_t>(space.ranks);
  Placement placement(space.costs.size());
  std::vector<std::size_t> order(placement.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](std::size_t i) { return weight(space.costs[i], sharder); });
  std::vector<double> load(ranks), memory(ranks);
  for (const std::size_t table : order) {
    const TableCost& cost = space.costs[table];
    std::optional<std::size_t> least;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const bool has_room = memory[rank] + cost.memory.value <= space.memory.value;
      if (has_room && (!least || load[rank] < load[*least])) least = rank;
    }
    if (!least)
      throw InfeasibleError(fmt::format("no rank has room for a table of {:.1f} GB", cost.memory.value / 1e9));
    load[*least] += weight(cost, sharder);
    memory[*least] += cost.memory.value;
    placement[table] = static_cast<int>(*least);
  }
  return placement;
}

}  // namespace

std::vector<TableCost> table_costs(const RecommendationJob& job, const ClusterSpec& cluster) {
  const GpuSpec& gpu = cluster.gpu;
  const NodeSpec& node = cluster.node;
  const BytesPerSecond host = node.c2c.raw.value > 0.0 ? node.c2c.one_way : node.pcie.one_way;
  std::vector<TableCost> costs;
  for (std::size_t i = 0; i < job.tables.size(); ++i) {
    auto [table, shape, fetched] = part_of(job, i, NodeRanks{});
    TableCost cost{.time = time_alone_of(shape, gpu),
                   .sums = element_size(job.dtype) * static_cast<double>(job.batch * shape.cols),
                   .memory = table_bytes(shape),
                   .lookups = static_cast<double>(shape.lookups),
                   .rows = static_cast<double>(shape.rows)};
    if (host.value > 0.0) cost.time += 2.0 * fetched / host;
    if (is_exact(job.update))
      cost.time += time_alone_of(embedding_sort_pass(shape), gpu) * embedding_sort_passes(shape);
    shape.pass = Pass::backward;
    cost.time += time_alone_of(shape, gpu);
    costs.push_back(cost);
  }
  return costs;
}

PlacementSpace placement_space(const RecommendationJob& job, const ClusterSpec& cluster) {
  const bool is_one_node = cluster.nodes == 1;
  const BytesPerSecond rate = is_one_node ? raw_egress(cluster.node) : cluster.node.pcie.raw;
  RecommendationJob free = job;
  std::erase_if(free.tables, [](const EmbeddingTable& table) { return !is_free(table); });
  return {.costs = table_costs(free, cluster),
          .ranks = cluster.ranks(),
          .memory = cluster.gpu.hbm.size,
          .rate = rate.value > 0.0 ? rate : cluster.node.link.raw};
}

std::uint64_t drawn_number(std::uint64_t seed, std::uint64_t number, std::uint64_t most) {
  const fmt::format_int text(number);
  return stable_hash({text.data(), text.size()}, seed) % most;
}

bool fits(const PlacementSpace& space, const Placement& placement) {
  const auto memory = by_rank(space, placement, [](const TableCost& cost) { return cost.memory.value; });
  return std::ranges::max(memory) <= space.memory.value;
}

Seconds least_time(const PlacementSpace& space, const Placement& placement) {
  const auto times = by_rank(space, placement, [](const TableCost& cost) { return cost.time.value; });
  const auto sums = by_rank(space, placement, [](const TableCost& cost) { return cost.sums.value; });
  return bound(space, std::ranges::max(times), std::ranges::max(sums));
}

Placement place(const PlacementSpace& space, Sharder sharder, std::uint64_t seed) {
  switch (sharder) {
    case Sharder::in_turn:
      return dealt(space, /*at_random=*/false, seed);
    case Sharder::random:
      return dealt(space, /*at_random=*/true, seed);
    case Sharder::search:
      return improved(space, largest_first(space, Sharder::by_time));
    default:
      return largest_first(space, sharder);
  }
}

Placement improved(const PlacementSpace& space, Placement placement) {
  RankLoads loads(space, placement);
  while (true) {
    Seconds least = least_time(space, placement);
    std::optional<Placement> best;
    const auto consider = [&](Seconds time, std::size_t i, int rank, std::optional<std::size_t> j) {
      constexpr double kRounding = 1e-9;  // else equal placements take turns
      if (time >= least * (1.0 - kRounding)) return;
      least = time;
      best = placement;
      (*best)[i] = rank;
      if (j) (*best)[*j] = placement[i];
    };
    for (std::size_t i = 0; i < placement.size(); ++i) {
      if (placement[i] != loads.longest()) continue;
      for (int rank = 0; rank < space.ranks; ++rank) {
        if (rank == placement[i]) continue;
        if (const auto time = loads.moved(space.costs[i], placement[i], rank))
          consider(*time, i, rank, std::nullopt);
      }
      for (std::size_t j = 0; j < placement.size(); ++j) {
        if (placement[j] == placement[i]) continue;
        const auto time = loads.moved(space.costs[i], placement[i], placement[j], space.costs[j]);
        if (time) consider(*time, i, placement[j], j);
      }
    }
    if (!best) return placement;
    placement = std::move(*best);
    loads = RankLoads(space, placement);
  }
}

}  // namespace c3::workloads
