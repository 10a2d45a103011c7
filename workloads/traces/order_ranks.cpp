#include "workloads/traces/order_ranks.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "workloads/traces/collective_matching.hpp"
#include "workloads/traces/rank_set.hpp"

namespace c3 { inline namespace traces {
namespace {

void complete_groups(std::vector<Rank>& ranks) {
  if (ranks.size() < 2 || !missing_ranks(ranks).empty()) return;
  for (const CollectiveInstance& instance : match_collectives(ranks)) {
    if (instance.members.size() != ranks.size()) continue;
    for (const CollectiveMember& member : instance.members) {
      std::optional<std::int64_t>& size = ranks[member.rank].collectives[member.collective].group_size;
      if (!size) size = std::ssize(ranks);
    }
  }
}

}  // namespace

void order_ranks(std::vector<Rank>& ranks, bool allow_missing) {
  check_ranks(ranks, allow_missing);
  std::ranges::stable_sort(ranks, {}, &Rank::number);
  complete_groups(ranks);
}

}}  // namespace c3::traces
