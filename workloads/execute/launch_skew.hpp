#pragma once
/// Hosts that do not launch at the same instant.

#include <cstdint>
#include <vector>

#include "collectives/cluster.hpp"
#include "engine/units.hpp"

namespace c3 { inline namespace workloads {

/// How much later than the first of them each of \p ranks launches, on all its streams, in the run of \p seed:
/// |z| times \p skew with z standard normal (cut at three deviations) by (seed, rank), less the least of them.
/// Wrong when: hosts drift apart over a long run, or one of them is always late.
std::vector<Seconds> launch_delays(Seconds skew, int ranks, std::uint64_t seed);

/// By rank, dates at which the ranks of \p cluster begin to launch. Those that stand for others are the last of
/// them: whatever takes all ranks waits for that one. \param is_isolated nobody is late: of what runs by itself
/// the reference is what it takes
std::vector<Seconds> launch_dates(const Cluster& cluster, bool is_isolated);

}}  // namespace c3::workloads
