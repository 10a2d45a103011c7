#include "workloads/recommendation/sharders.hpp"

#include <algorithm>
#include <cmath>
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

namespace c3 { inline namespace workloads {
namespace {

Seconds time_alone_of(const Operator& op, const GpuSpec& gpu) {
  return time_alone(describe("table", op, gpu), gpu, {.launch = LaunchCost::device}).time;
}

/// Rate of a GPU's copies to and from its host; 0: not known.
BytesPerSecond host_rate(const NodeSpec& node) {
  return node.c2c.raw.value > 0.0 ? node.c2c.one_way : node.pcie.one_way;
}

/// Times of one kernel each way.
TableTimes time_of_kernels(EmbeddingShape shape, const GpuSpec& gpu) {
  TableTimes time{.forward = time_alone_of(shape, gpu), .backward = {}};
  if (is_exact(shape.update))
    time.backward += time_alone_of(embedding_sort_pass(shape), gpu) * embedding_sort_passes(shape);
  shape.pass = Pass::backward;
  for (EmbeddingShape& other : shape.others)
    other.pass = Pass::backward;
  time.backward += time_alone_of(shape, gpu);
  return time;
}

TableTimes with_host(TableTimes kernels, Bytes fetched, BytesPerSecond host) {
  if (host.value <= 0.0) return kernels;
  return {.forward = kernels.forward + fetched / host, .backward = kernels.backward + fetched / host};
}

/// Share of one of \p together alike tables in the time of one kernel, which takes as many as fit.
TableTimes time_in_kernel(EmbeddingShape shape, std::int64_t together, const GpuSpec& gpu) {
  const double fitting = std::floor(gpu.hbm.size / table_bytes(shape));
  shape.tables =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(std::min(static_cast<double>(together), fitting)));
  const TableTimes all = time_of_kernels(shape, gpu);
  const auto tables = static_cast<double>(shape.tables);
  return {.forward = all.forward / tables, .backward = all.backward / tables};
}

/// Times of a rank that has \p tables of \p parts.
TableTimes time_of_rank(const std::vector<TablePart>& parts, const std::vector<std::size_t>& tables,
                        const GpuSpec& gpu, BytesPerSecond host) {
  std::vector<TablePart> own;
  Bytes fetched;
  for (const std::size_t table : tables) {
    own.push_back(parts[table]);
    fetched += parts[table].fetched;
  }
  const std::optional<EmbeddingShape> kernel = kernel_of(own);
  return kernel ? with_host(time_of_kernels(*kernel, gpu), fetched, host) : TableTimes{};
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
      return cost.time.sum().value;
  }
}

/// What each rank has of something.
template <class Amount>
std::vector<double> by_rank(const PlacementSpace& space, const Placement& placement, Amount amount) {
  std::vector<double> sums(static_cast<std::size_t>(space.ranks));
  for (std::size_t i = 0; i < placement.size(); ++i)
    sums[static_cast<std::size_t>(placement[i])] += amount(space.costs[i]);
  return sums;
}

/// What each rank has of something, and the most of it when two ranks change.
class RankAmounts {
 public:
  explicit RankAmounts(std::vector<double> amounts) : amounts_(std::move(amounts)), most_(amounts_.size()) {
    std::iota(most_.begin(), most_.end(), 0);
    const auto kept = most_.begin() + static_cast<std::ptrdiff_t>(std::min(kKept, most_.size()));
    const auto has_more = [this](int a, int b) { return of(a) != of(b) ? of(a) > of(b) : a < b; };
    std::partial_sort(most_.begin(), kept, most_.end(), has_more);
    most_.erase(kept, most_.end());
  }

  double of(int rank) const { return amounts_[static_cast<std::size_t>(rank)]; }
  int first() const { return most_.front(); }
  double largest() const { return of(first()); }
  double largest_with(int a, double of_a, int b, double of_b) const {
    double largest = std::max(of_a, of_b);
    for (const int rank : most_) {
      if (rank != a && rank != b) largest = std::max(largest, of(rank));
    }
    return largest;
  }
  double moved(int from, int to, double more) const {
    return largest_with(from, of(from) - more, to, of(to) + more);
  }

 private:
  static constexpr std::size_t kKept = 3;  // one of which is neither of two ranks

  std::vector<double> amounts_;
  std::vector<int> most_;  ///< the ranks with most, the first of all first
};

/// What each rank has in a placement, and the bound when two ranks change.
class RankLoads {
 public:
  /// \param times of the ranks' kernels
  RankLoads(const PlacementSpace& space, const Placement& placement, const std::vector<TableTimes>& times)
      : space_(&space),
        forward_(of_each(times, &TableTimes::forward)),
        backward_(of_each(times, &TableTimes::backward)),
        sums_(by_rank(space, placement, [](const TableCost& cost) { return cost.sums.value; })),
        memory_(by_rank(space, placement, [](const TableCost& cost) { return cost.memory.value; })) {}

  /// The ranks that decide, whose tables to move: of the longest lookups, and of the longest updates.
  std::vector<int> deciding() const {
    if (forward_.first() == backward_.first()) return {forward_.first()};
    return {forward_.first(), backward_.first()};
  }

  Seconds time() const { return bound(forward_.largest(), backward_.largest(), sums_.largest()); }

  /// time() when the kernels of two ranks take so long.
  Seconds time_with(int from, TableTimes of_from, int to, TableTimes of_to) const {
    return bound(forward_.largest_with(from, of_from.forward.value, to, of_to.forward.value),
                 backward_.largest_with(from, of_from.backward.value, to, of_to.backward.value),
                 sums_.largest());
  }

  /// time() with a table of \p from on \p to, and one that costs \p back the other way; absent where memory
  /// does not suffice.
  std::optional<Seconds> moved(const TableCost& table, int from, int to, const TableCost& back) const {
    const double more = (table.memory - back.memory).value;
    const double most = space_->memory.value;
    if (memory_.of(to) + more > most || memory_.of(from) - more > most) return std::nullopt;
    return bound(forward_.moved(from, to, (table.time.forward - back.time.forward).value),
                 backward_.moved(from, to, (table.time.backward - back.time.backward).value),
                 sums_.moved(from, to, (table.sums - back.sums).value));
  }

 private:
  static std::vector<double> of_each(const std::vector<TableTimes>& times, Seconds TableTimes::*pass) {
    std::vector<double> values;
    for (const TableTimes& time : times)
      values.push_back((time.*pass).value);
    return values;
  }

  Seconds bound(double forward, double backward, double sums) const {
    const double others = (space_->ranks - 1.0) / space_->ranks;
    return Seconds{forward + backward} + Bytes{2.0 * others * sums} / space_->rate;
  }

  const PlacementSpace* space_;
  RankAmounts forward_, backward_, sums_, memory_;
};

std::vector<std::size_t> tables_of(const Placement& placement, int rank) {
  std::vector<std::size_t> tables;
  for (std::size_t i = 0; i < placement.size(); ++i) {
    if (placement[i] == rank) tables.push_back(i);
  }
  return tables;
}

/// Sum of the tables' times on each rank.
std::vector<TableTimes> times_together(const PlacementSpace& space, const Placement& placement) {
  std::vector<TableTimes> times(static_cast<std::size_t>(space.ranks));
  for (std::size_t i = 0; i < placement.size(); ++i) {
    TableTimes& rank = times[static_cast<std::size_t>(placement[i])];
    rank.forward += space.costs[i].time.forward;
    rank.backward += space.costs[i].time.backward;
  }
  return times;
}

/// Times of each rank's kernels.
std::vector<TableTimes> kernel_times(const PlacementSpace& space, const Placement& placement) {
  if (!space.kernels) return times_together(space, placement);
  std::vector<TableTimes> times;
  for (int rank = 0; rank < space.ranks; ++rank)
    times.push_back(space.kernels(tables_of(placement, rank)));
  return times;
}

/// A table that goes from one rank to another, and perhaps one that comes back.
struct Change {
  Seconds promised;  ///< bound by the tables' times
  std::size_t table = 0;
  int from = 0, to = 0;
  std::optional<std::size_t> back = std::nullopt;

  Placement made(Placement placement) const {
    if (back) placement[*back] = from;
    placement[table] = to;
    return placement;
  }
};

/// Changes of the deciding ranks that lower the bound, as far as the tables' times say, and fit.
std::vector<Change> promising(const PlacementSpace& space, const Placement& placement, const RankLoads& loads) {
  constexpr double kRounding = 1e-9;  // else equal placements take turns
  const Seconds limit = loads.time() * (1.0 - kRounding);
  std::vector<Change> changes;
  const auto consider = [&](std::size_t table, int to, std::optional<std::size_t> back) {
    const TableCost none;
    const int from = placement[table];
    const auto time = loads.moved(space.costs[table], from, to, back ? space.costs[*back] : none);
    if (time && *time < limit) changes.push_back({*time, table, from, to, back});
  };
  for (const int from : loads.deciding()) {
    for (const std::size_t table : tables_of(placement, from)) {
      for (int rank = 0; rank < space.ranks; ++rank) {
        if (rank != from) consider(table, rank, std::nullopt);
      }
      for (std::size_t other = 0; other < placement.size(); ++other) {
        if (placement[other] != from) consider(table, placement[other], other);
      }
    }
  }
  return changes;
}

Placement improved_by_times(const PlacementSpace& space, Placement placement) {
  while (true) {
    const RankLoads loads(space, placement, times_together(space, placement));
    const std::vector<Change> changes = promising(space, placement, loads);
    if (changes.empty()) return placement;
    placement = std::ranges::min_element(changes, {}, &Change::promised)->made(std::move(placement));
  }
}

Placement improved_by_kernels(const PlacementSpace& space, Placement placement) {
  constexpr std::size_t kTried = 64;  // changes of a step whose kernels are looked at
  while (true) {
    const RankLoads loads(space, placement, kernel_times(space, placement));
    std::vector<Change> changes = promising(space, placement, loads);
    std::ranges::stable_sort(changes, {}, &Change::promised);
    changes.resize(std::min(changes.size(), kTried));
    Seconds least = loads.time();
    std::optional<Placement> best;
    for (const Change& change : changes) {
      Placement other = change.made(placement);
      const Seconds time = loads.time_with(change.from, space.kernels(tables_of(other, change.from)), change.to,
                                           space.kernels(tables_of(other, change.to)));
      if (time >= least) continue;
      least = time;
      best = std::move(other);
    }
    if (!best) return placement;
    placement = std::move(*best);
  }
}

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
  const BytesPerSecond host = host_rate(cluster.node);
  const std::int64_t together = std::max<std::int64_t>(1, std::ssize(job.tables) / cluster.ranks());
  std::vector<TableCost> costs;
  for (std::size_t i = 0; i < job.tables.size(); ++i) {
    auto [table, shape, fetched] = part_of(job, i, NodeRanks{});
    TableCost cost{.time = with_host(time_in_kernel(shape, together, gpu), fetched, host),
                   .sums = element_size(job.dtype) * static_cast<double>(job.batch * shape.cols),
                   .memory = table_bytes(shape),
                   .lookups = static_cast<double>(shape.lookups),
                   .rows = static_cast<double>(shape.rows)};
    costs.push_back(cost);
  }
  return costs;
}

PlacementSpace placement_space(const RecommendationJob& job, const ClusterSpec& cluster) {
  const bool is_one_node = cluster.nodes == 1;
  const BytesPerSecond rate = is_one_node ? raw_egress(cluster.node) : cluster.node.pcie.raw;
  RecommendationJob free = job;
  std::erase_if(free.tables, [](const EmbeddingTable& table) { return !is_free(table); });
  std::vector<TablePart> parts;
  for (std::size_t i = 0; i < free.tables.size(); ++i)
    parts.push_back(part_of(free, i, NodeRanks{}));
  return {.costs = table_costs(free, cluster),
          .ranks = cluster.ranks(),
          .memory = cluster.gpu.hbm.size,
          .rate = rate.value > 0.0 ? rate : cluster.node.link.raw,
          .kernels = [parts = std::move(parts), gpu = cluster.gpu,
                      host = host_rate(cluster.node)](const std::vector<std::size_t>& tables) {
            return time_of_rank(parts, tables, gpu, host);
          }};
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
  return RankLoads(space, placement, kernel_times(space, placement)).time();
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
  placement = improved_by_times(space, std::move(placement));
  return space.kernels ? improved_by_kernels(space, std::move(placement)) : placement;
}

}}  // namespace c3::workloads
