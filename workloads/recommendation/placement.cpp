#include "workloads/recommendation/placement.hpp"

#include <algorithm>
#include <ranges>

#include <fmt/format.h>

#include "engine/errors.hpp"

namespace c3::inline workloads {
namespace {

constexpr double kIndex = 8.0;   // bytes
constexpr double kWeight = 4.0;  // bytes

bool has(const EmbeddingTable& table, int rank) {
  const bool by_rank = table.sharding == TableSharding::table || table.sharding == TableSharding::column;
  return !by_rank || std::ranges::find(table.ranks, rank) != table.ranks.end();
}

/// Of \p whole things the share of each of \p parts, 1 at least.
std::int64_t share(std::int64_t whole, std::int64_t parts) {
  return std::max<std::int64_t>(1, (whole + parts - 1) / parts);
}

EmbeddingShape part_of(const RecommendationJob& job, const EmbeddingTable& table, int ranks) {
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
  if (table.sharding == TableSharding::row) {
    shape.rows = share(table.rows, ranks);
    // Of few lookups most bags have none here: as many bags with one.
    shape.bags = std::min(job.batch, share(job.batch * table.lookups, ranks));
    shape.lookups = share(table.lookups, ranks);
  }
  if (table.sharding == TableSharding::data) shape.bags = job.batch / ranks;
  return shape;
}

double bytes_of_sample(const EmbeddingTable& table) {
  return static_cast<double>(table.lookups) * (kIndex + (table.is_weighted ? kWeight : 0.0)) + kIndex;
}

}  // namespace

std::vector<TablePart> parts_of(const RecommendationJob& job, int rank, int ranks) {
  std::vector<TablePart> parts;
  for (std::size_t i = 0; i < job.tables.size(); ++i) {
    if (has(job.tables[i], rank)) parts.push_back({i, part_of(job, job.tables[i], ranks)});
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

Bytes table_memory(const RecommendationJob& job, int rank, int ranks) {
  Bytes sum;
  for (const TablePart& part : parts_of(job, rank, ranks))
    sum += table_bytes(part.shape);
  return sum;
}

RecommendationJob placed(RecommendationJob job, int ranks) {
  int next = 0;
  for (EmbeddingTable& table : job.tables) {
    const bool by_column = table.sharding == TableSharding::column;
    if (table.ranks.empty() && table.sharding == TableSharding::table) table.ranks = {next++ % ranks};
    if (table.ranks.empty() && by_column) {
      for (int rank = 0; rank < ranks; ++rank)
        table.ranks.push_back(rank);
    }
    for (const int rank : table.ranks) {
      if (rank < 0 || rank >= ranks)
        throw InfeasibleError(fmt::format("table '{}': there is no rank {} of {}", table.name, rank, ranks));
    }
    if (by_column && table.cols % std::ssize(table.ranks) != 0)
      throw InfeasibleError(fmt::format("table '{}': its {} columns cannot be divided among {} ranks",
                                        table.name, table.cols, table.ranks.size()));
  }
  return job;
}

std::vector<Bytes> sums_sent(const RecommendationJob& job, int ranks) {
  std::vector<Bytes> sends;
  for (int from = 0; from < ranks; ++from) {
    std::int64_t columns = 0;
    for (const TablePart& part : parts_of(job, from, ranks)) {
      const TableSharding sharding = job.tables[part.table].sharding;
      if (sharding == TableSharding::table || sharding == TableSharding::column) columns += part.shape.cols;
    }
    const double samples = static_cast<double>(job.batch / ranks);
    const Bytes each = element_size(job.dtype) * (samples * static_cast<double>(columns));
    sends.insert(sends.end(), static_cast<std::size_t>(ranks), each);
  }
  return sends;
}

std::vector<Bytes> indices_sent(const RecommendationJob& job, int ranks) {
  std::vector<Bytes> of_receiver(static_cast<std::size_t>(ranks));
  const double samples = static_cast<double>(job.batch / ranks);
  for (const EmbeddingTable& table : job.tables) {
    if (table.sharding == TableSharding::data) continue;
    const double parts = table.sharding == TableSharding::row ? ranks : 1.0;
    for (int rank = 0; rank < ranks; ++rank) {
      if (has(table, rank))
        of_receiver[static_cast<std::size_t>(rank)] += Bytes{samples * bytes_of_sample(table) / parts};
    }
  }
  std::vector<Bytes> sends;
  for (int from = 0; from < ranks; ++from)
    sends.insert(sends.end(), of_receiver.begin(), of_receiver.end());
  return sends;
}

void check_placement(const RecommendationJob& job, int ranks, Bytes memory) {
  if (job.batch % ranks != 0)
    throw InfeasibleError(
        fmt::format("a batch of {} samples cannot be divided among {} ranks", job.batch, ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    const Bytes tables = table_memory(job, rank, ranks);
    if (tables > memory)
      throw InfeasibleError(fmt::format("rank {} holds {:.1f} GB of tables, and its GPU has {:.1f} GB", rank,
                                        tables.value / 1e9, memory.value / 1e9));
  }
}

}  // namespace c3::workloads
