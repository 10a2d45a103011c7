#pragma once
/// Which training steps context-parallel ranks can share, and which ranks exchange what.

#include "workloads/training/broken_rules.hpp"
#include "workloads/training/rank_grid.hpp"
#include "workloads/training/setup.hpp"

namespace c3 { inline namespace workloads {

/// Rules of context parallelism that \p setup breaks. \pre tensor_parallel divides the model's heads and
/// kv_heads
BrokenRules broken_context_rules(const TrainingSetup& setup);

/// Neighbours in a group exchange by all-to-alls: those that divide heads. \pre heads are divided
RankGroups groups_of_heads(const ContextSplit& split, const RankGrid& grid);
/// Groups in which keys and values go round, or are gathered. \pre split.key_ranks() > 1
RankGroups ring_of_keys(const ContextSplit& split, const RankGrid& grid);

}}  // namespace c3::workloads
