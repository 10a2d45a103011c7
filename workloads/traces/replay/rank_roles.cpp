#include "workloads/traces/replay/rank_roles.hpp"

#include <fmt/format.h>

#include "engine/errors.hpp"

namespace c3 { inline namespace traces {

RankRoles recorded_roles(const RecordedRun& run, int ranks) {
  if (run.ranks.size() == 1) return repeated_roles(run, ranks);
  RankRoles roles(static_cast<std::size_t>(ranks), kNoIndex);
  for (std::size_t row = 0; row < run.ranks.size(); ++row) {
    const int number = run.ranks[row].number;
    if (number >= ranks)
      throw InfeasibleError(
          fmt::format("the trace has rank {}, the system only ranks 0 to {}", number, ranks - 1));
    roles[static_cast<std::size_t>(number)] = static_cast<std::uint32_t>(row);
  }
  return roles;
}

RankRoles repeated_roles(const RecordedRun& run, int ranks) {
  RankRoles roles;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(ranks); ++rank)
    roles.push_back(static_cast<std::uint32_t>(rank % run.ranks.size()));
  return roles;
}

}}  // namespace c3::traces
