#include "workloads/recommendation/sharding_search.hpp"

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

std::uint64_t drawn(std::uint64_t seed, std::uint64_t number, std::uint64_t most) {
  const fmt::format_int text(number);
  return stable_hash({text.data(), text.size()}, seed) % most;
}

/// What each rank has of something.
template <class Of>
std::vector<double> by_rank(const PlacementSpace& space, const Placement& placement, Of of) {
  std::vector<double> sums(static_cast<std::size_t>(space.ranks));
  for (std::size_t i = 0; i < placement.size(); ++i)
    sums[static_cast<std::size_t>(placement[i])] += of(space.costs[i]);
  return sums;
}

bool fits(const PlacementSpace& space, const Placement& placement) {
  const auto memory = by_rank(space, placement, [](const TableCost& cost) { return cost.memory.value; });
  return std::ranges::max(memory) <= space.memory.value;
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
  return {.costs = table_costs(job, cluster),
          .ranks = cluster.ranks(),
          .memory = cluster.gpu.hbm.size,
          .rate = rate.value > 0.0 ? rate : cluster.node.link.raw};
}

Seconds least_time(const PlacementSpace& space, const Placement& placement) {
  const auto times = by_rank(space, placement, [](const TableCost& cost) { return cost.time.value; });
  const auto sums = by_rank(space, placement, [](const TableCost& cost) { return cost.sums.value; });
  const double others = (space.ranks - 1.0) / space.ranks;
  return Seconds{std::ranges::max(times)} + Bytes{2.0 * others * std::ranges::max(sums)} / space.rate;
}

Placement place(const PlacementSpace& space, Sharder sharder, std::uint64_t seed) {
  const std::size_t tables = space.costs.size();
  const auto ranks = static_cast<std::uint64_t>(space.ranks);
  Placement placement(tables);
  if (sharder == Sharder::in_turn || sharder == Sharder::random) {
    for (std::size_t i = 0; i < tables; ++i)
      placement[i] = static_cast<int>(sharder == Sharder::in_turn ? i % ranks : drawn(seed, i, ranks));
    return placement;
  }
  std::vector<std::size_t> order(tables);
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

Placement improved(const PlacementSpace& space, Placement placement) {
  Seconds least = least_time(space, placement);
  while (true) {
    Placement best = placement;
    const auto consider = [&](const Placement& other) {
      if (!fits(space, other)) return;
      const Seconds time = least_time(space, other);
      if (time < least) {
        least = time;
        best = other;
      }
    };
    const auto times = by_rank(space, placement, [](const TableCost& cost) { return cost.time.value; });
    const auto longest = static_cast<int>(std::ranges::max_element(times) - times.begin());
    for (std::size_t i = 0; i < placement.size(); ++i) {
      if (placement[i] != longest) continue;
      Placement moved = placement;
      for (int rank = 0; rank < space.ranks; ++rank) {
        moved[i] = rank;
        consider(moved);
      }
      for (std::size_t j = 0; j < placement.size(); ++j) {
        Placement swapped = placement;
        std::swap(swapped[i], swapped[j]);
        consider(swapped);
      }
    }
    if (best == placement) return placement;
    placement = std::move(best);
  }
}

ShardingSearch::ShardingSearch(PlacementSpace space, std::uint64_t seed)
    : space_(std::move(space)), seed_(seed), asked_(improved(space_, place(space_, Sharder::by_time, seed))) {}

void ShardingSearch::tell(Seconds time) {
  if (told_ == 0 || time < best_time_) {
    best_ = asked_;
    best_time_ = time;
  }
  const std::size_t sharder = told_++;
  asked_ = sharder < kSharders.size() ? place(space_, kSharders[sharder], seed_) : neighbour();
}

Placement ShardingSearch::neighbour() {
  const std::uint64_t tables = best_.size();
  const std::uint64_t draw = drawn(seed_, told_, tables * tables * 2);
  Placement other = best_;
  const std::size_t i = draw % tables, j = draw / tables % tables;
  if (draw / tables / tables == 0) {
    std::swap(other[i], other[j]);
  } else {
    other[i] = static_cast<int>(j % static_cast<std::uint64_t>(space_.ranks));
  }
  return fits(space_, other) ? other : best_;
}

RecommendationJob sharded(RecommendationJob job, const ClusterSpec& cluster) {
  const auto is_free = [](const EmbeddingTable& table) {
    return table.sharding == TableSharding::table && table.ranks.empty();
  };
  if (job.sharder == Sharder::in_turn || std::ranges::none_of(job.tables, is_free)) return job;
  RecommendationJob free = job;
  std::erase_if(free.tables, [&](const EmbeddingTable& table) { return !is_free(table); });
  const PlacementSpace space = placement_space(free, cluster);
  constexpr std::uint64_t kSeed = 0;
  const bool searches = job.sharder == Sharder::search;
  Placement placement = place(space, searches ? Sharder::by_time : job.sharder, kSeed);
  if (searches) placement = improved(space, std::move(placement));
  std::size_t next = 0;
  for (EmbeddingTable& table : job.tables) {
    if (is_free(table)) table.ranks = {placement[next++]};
  }
  return job;
}

}  // namespace c3::workloads
