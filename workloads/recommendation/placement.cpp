#include "workloads/recommendation/placement.hpp"

#include <algorithm>
#include <ranges>

#include <fmt/format.h>

#include "engine/errors.hpp"

namespace c3 { inline namespace workloads {
namespace {

constexpr double kIndex = 8.0;   // bytes
constexpr double kWeight = 4.0;  // bytes

bool has(const EmbeddingTable& table, int rank) {
  const bool by_rank = table.sharding == TableSharding::table || table.sharding == TableSharding::column;
  return !by_rank || std::ranges::find(table.ranks, rank) != table.ranks.end();
}

/// The share of \p whole things that each of \p parts has, 1 at least.
std::int64_t share(std::int64_t whole, std::int64_t parts) {
  return std::max<std::int64_t>(1, (whole + parts - 1) / parts);
}

double bytes_of_sample(const EmbeddingTable& table) {
  return static_cast<double>(table.lookups) * (kIndex + (table.is_weighted ? kWeight : 0.0)) + kIndex;
}

/// Ranks that have some of the rows of a column each.
int row_parts(TableSharding sharding, NodeRanks grid) {
  if (sharding == TableSharding::row) return grid.ranks;
  return sharding == TableSharding::grid ? grid.in_node : 1;
}

/// What a batch brings from the host of a part of \p shape.
double fetched_rows(const EmbeddingShape& shape, double cached) {
  const double lookups = static_cast<double>(shape.bags) * static_cast<double>(shape.lookups);
  return reuse_of(shape).distinct_beyond(cached * static_cast<double>(shape.rows), lookups);
}

void check_columns(const EmbeddingTable& table, std::int64_t parts, const char* what) {
  if (table.cols % parts != 0)
    throw InfeasibleError(fmt::format("table '{}': its {} columns cannot be divided among {} {}", table.name,
                                      table.cols, parts, what));
}

}  // namespace

NodeRanks node_ranks_of(const ClusterSpec& cluster) {
  return {.ranks = cluster.ranks(), .in_node = cluster.node.gpus};
}

TablePart part_of(const RecommendationJob& job, std::size_t number, NodeRanks grid) {
  const EmbeddingTable& table = job.tables[number];
  EmbeddingShape shape{.bags = job.batch,
                       .rows = table.rows,
                       .cols = table.cols,
                       .lookups = table.lookups,
                       .dtype = job.dtype,
                       .update = job.update,
                       .is_weighted = table.is_weighted,
                       .reuse = table.reuse,
                       .histogram = table.histogram};
  if (table.sharding == TableSharding::column) shape.cols = table.cols / std::ssize(table.ranks);
  if (table.sharding == TableSharding::grid) shape.cols = table.cols / grid.nodes();
  if (const int parts = row_parts(table.sharding, grid); parts > 1) {
    shape.rows = share(table.rows, parts);
    // If lookups are few, most bags have none here: counts as many bags with one.
    shape.bags = std::min(job.batch, share(job.batch * table.lookups, parts));
    shape.lookups = share(table.lookups, parts);
  }
  if (table.sharding == TableSharding::data) shape.bags = job.batch / grid.ranks;
  TablePart part{.table = number, .shape = shape, .fetched = {}};
  if (table.memory == TableMemory::host) {
    const double fetched = fetched_rows(shape, table.cached);
    part.fetched = row_bytes(shape) * fetched;
    part.shape.resident = std::min(1.0, table.cached + fetched / static_cast<double>(shape.rows));
  }
  return part;
}

std::vector<TablePart> parts_of(const RecommendationJob& job, int rank, NodeRanks grid) {
  std::vector<TablePart> parts;
  for (std::size_t i = 0; i < job.tables.size(); ++i) {
    if (has(job.tables[i], rank)) parts.push_back(part_of(job, i, grid));
  }
  return parts;
}

std::optional<EmbeddingShape> kernel_of(const std::vector<TablePart>& parts) {
  if (parts.empty()) return std::nullopt;
  std::vector<EmbeddingShape> unlike;
  for (const TablePart& part : parts) {
    const auto alike = std::ranges::find_if(unlike, [&](EmbeddingShape known) {
      known.tables = 1;
      return known == part.shape;
    });
    alike == unlike.end() ? unlike.push_back(part.shape) : void(++alike->tables);
  }
  EmbeddingShape kernel = unlike.front();
  kernel.others.assign(unlike.begin() + 1, unlike.end());
  return kernel;
}

bool is_free(const EmbeddingTable& table) {
  return table.sharding == TableSharding::table && table.ranks.empty();
}

Bytes table_memory(const RecommendationJob& job, int rank, NodeRanks grid) {
  Bytes sum;
  for (const TablePart& part : parts_of(job, rank, grid))
    sum += table_bytes(part.shape);
  return sum;
}

RecommendationJob placed(RecommendationJob job, NodeRanks grid) {
  int next = 0;
  for (EmbeddingTable& table : job.tables) {
    const bool by_column = table.sharding == TableSharding::column;
    if (table.ranks.empty() && table.sharding == TableSharding::table) table.ranks = {next++ % grid.ranks};
    if (table.ranks.empty() && by_column) {
      for (int rank = 0; rank < grid.ranks; ++rank)
        table.ranks.push_back(rank);
    }
    for (const int rank : table.ranks) {
      if (rank < 0 || rank >= grid.ranks)
        throw InfeasibleError(
            fmt::format("table '{}': there is no rank {} of {}", table.name, rank, grid.ranks));
    }
    if (by_column) check_columns(table, std::ssize(table.ranks), "ranks");
    if (table.sharding != TableSharding::grid) continue;
    if (grid.nodes() < 2)
      throw InfeasibleError(fmt::format("table '{}': sharding by grid requires several nodes", table.name));
    check_columns(table, grid.nodes(), "nodes");
  }
  return job;
}

std::int64_t shared_columns(const RecommendationJob& job, TableSharding sharding, NodeRanks grid) {
  std::int64_t columns = 0;
  for (const EmbeddingTable& table : job.tables)
    columns += table.sharding == sharding ? table.cols : 0;
  return sharding == TableSharding::grid ? columns / grid.nodes() : columns;
}

std::vector<Bytes> sums_sent(const RecommendationJob& job, NodeRanks grid) {
  std::vector<Bytes> sends;
  for (int from = 0; from < grid.ranks; ++from) {
    std::int64_t columns = 0;
    for (const TablePart& part : parts_of(job, from, grid)) {
      const TableSharding sharding = job.tables[part.table].sharding;
      if (sharding == TableSharding::table || sharding == TableSharding::column) columns += part.shape.cols;
    }
    const double samples = static_cast<double>(job.batch / grid.ranks);
    const Bytes bytes_to_rank = element_size(job.dtype) * (samples * static_cast<double>(columns));
    sends.insert(sends.end(), static_cast<std::size_t>(grid.ranks), bytes_to_rank);
  }
  return sends;
}

std::vector<Bytes> indices_sent(const RecommendationJob& job, NodeRanks grid) {
  std::vector<Bytes> of_receiver(static_cast<std::size_t>(grid.ranks));
  const double samples = static_cast<double>(job.batch / grid.ranks);
  for (const EmbeddingTable& table : job.tables) {
    if (table.sharding == TableSharding::data) continue;
    const double parts = row_parts(table.sharding, grid);
    for (int rank = 0; rank < grid.ranks; ++rank) {
      if (has(table, rank))
        of_receiver[static_cast<std::size_t>(rank)] += Bytes{samples * bytes_of_sample(table) / parts};
    }
  }
  std::vector<Bytes> sends;
  for (int from = 0; from < grid.ranks; ++from)
    sends.insert(sends.end(), of_receiver.begin(), of_receiver.end());
  return sends;
}

void check_placement(const RecommendationJob& job, NodeRanks grid, Bytes memory) {
  if (job.batch % grid.ranks != 0)
    throw InfeasibleError(
        fmt::format("a batch of {} samples cannot be divided among {} ranks", job.batch, grid.ranks));
  for (int rank = 0; rank < grid.ranks; ++rank) {
    const Bytes tables = table_memory(job, rank, grid);
    if (tables > memory)
      throw InfeasibleError(fmt::format("rank {} holds {:.1f} GB of tables, and its GPU has {:.1f} GB", rank,
                                        tables.value / 1e9, memory.value / 1e9));
  }
}

}}  // namespace c3::workloads
