#pragma once
/// How the ranks of a cluster differ, by what is stated of its stragglers.

#include <cstdint>
#include <string>
#include <vector>

#include "collectives/spec.hpp"

namespace c3::inline collectives {

/// By rank; empty where every rank is sound. Ranks that share a NIC have the worst share of them.
std::vector<RankCondition> rank_conditions(const ClusterSpec& cluster);

/// Of what is stated of \p rank; empty: nothing.
std::string straggler_name(const ClusterSpec& cluster, int rank);

/// By rank, equal numbers for ranks of equal conditions; empty where every rank is sound.
std::vector<std::uint32_t> numbered_conditions(const ClusterSpec& cluster);

/// Whether every rank has the same hardware and sees the same links, so that one can stand for all.
bool is_symmetric(const ClusterSpec& cluster);

}  // namespace c3::collectives
