#pragma once
/// How the ranks of a cluster differ, by what is stated of its stragglers.

#include <cstdint>
#include <string>
#include <vector>

#include "collectives/spec.hpp"

namespace c3 { inline namespace collectives {

/// One condition per rank; empty where every rank is sound. Ranks that share a NIC have the worst share of
/// them.
std::vector<RankCondition> rank_conditions(const ClusterSpec& cluster);

/// The name of the straggler table that says how \p rank is worse than others; empty: none does.
std::string straggler_name(const ClusterSpec& cluster, int rank);

/// One number per rank, equal for ranks of equal conditions that the same table states, or no table does;
/// empty where every rank is sound.
std::vector<std::uint32_t> numbered_conditions(const ClusterSpec& cluster);

/// Whether every rank has the same hardware and sees the same links, so that one can stand for all.
bool is_symmetric(const ClusterSpec& cluster);

}}  // namespace c3::collectives
