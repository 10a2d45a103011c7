#pragma once
/// The table [shard] of an experiment: which placements of embedding tables to try, or the one that was chosen.

#include <optional>

#include "configs/toml/section.hpp"
#include "workloads/recommendation/sharding_search.hpp"

namespace c3 { inline namespace configs {

/// What [shard] says of the tables of \p job that have no ranks yet.
struct WrittenShard {
  ShardingPlan plan = {};
  Placement placement = {};  ///< chosen; empty: to be searched for
};

/// Absent without the table. \throws ConfigError, also where no table of \p job is to be placed
std::optional<WrittenShard> read_shard(Section& root, const RecommendationJob& job, int ranks);

}}  // namespace c3::configs
