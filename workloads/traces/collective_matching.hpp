#pragma once
/// \file
/// Which kernels of different ranks are one collective, and what that says: true cost, stragglers, clocks.

#include <cstdint>
#include <vector>

#include "workloads/traces/rank_record.hpp"

namespace c3 { inline namespace traces {

struct CollectiveMember {
  std::uint32_t rank = 0;        ///< in the vector of ranks, not its number
  std::uint32_t collective = 0;  ///< in its Rank::collectives
};

/// Kernels of at least two ranks that are one collective.
struct CollectiveInstance {
  std::vector<CollectiveMember> members;  ///< by rank
  bool has_sequence = false;              ///< matched by sequence number; else by order within the group
  bool is_whole = true;                   ///< all ranks of its group are members, as far as is known
};

/// Kernels are matched by (process group, sequence number), or, where there is none, by their order in the
/// group if all ranks have as many. A group without a name is known by its size and its order among
/// those of that size. Sends and receives are not matched. \throws TraceSetError for kernels of one
/// instance whose kind or bytes differ
std::vector<CollectiveInstance> match_collectives(const std::vector<Rank>& ranks);

/// Shifts of each rank's dates that give all ranks one clock. Shape [ranks].
struct Clocks {
  std::vector<Picoseconds>
      shifts;  ///< add to a rank's dates: from its origin to the common one, and correction
  std::vector<Picoseconds>
      offsets;                  ///< median of (end - median end of all) over collectives, before correction
  std::vector<bool> corrected;  ///< the offset is above 50 us: another clock
  Picoseconds spread_median;    ///< of (last end - first end) over instances, after correction
  Picoseconds spread_worst;
};

/// Ranks leave a collective together: within 49 us on 8 x A100 with one host clock (Megatron, 84 collectives).
Clocks align_clocks(const std::vector<Rank>& ranks, const std::vector<CollectiveInstance>& instances);

/// What an instance cost, on the common clock.
struct CollectiveTiming {
  Picoseconds latest_start;
  Picoseconds median_end;
  std::uint32_t last_rank = 0;  ///< in the vector of ranks
  Picoseconds late_by;          ///< its start - the median start of the others: what they waited for it
  Picoseconds cost;             ///< median end - latest start: without waiting
};

CollectiveTiming timing_of(const CollectiveInstance& instance, const std::vector<Rank>& ranks,
                           const std::vector<Picoseconds>& shifts);

}}  // namespace c3::traces
