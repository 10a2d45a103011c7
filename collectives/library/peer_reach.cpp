#include "collectives/library/peer_reach.hpp"

namespace c3 { inline namespace collectives {

P2pReach peer_reach(const CollectiveLibrarySpec& library, int gpus_of_node) {
  constexpr int kPair = 2;
  const bool was_everywhere = library.rules == TunerRules::rccl || library.version < LibraryVersion{2, 23, 0};
  const bool is_far = library.host_processor == HostProcessor::amd && (was_everywhere || gpus_of_node <= kPair);
  return is_far ? P2pReach::all : P2pReach::direct;
}

}}  // namespace c3::collectives
