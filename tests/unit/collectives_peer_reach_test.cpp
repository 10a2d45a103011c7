// Up to where NCCL and RCCL have GPUs of a node store into each other's memory (ncclTopoCheckP2p).

#include "collectives/library/peer_reach.hpp"

#include <doctest/doctest.h>

namespace c3::collectives_peer_reach_test {

namespace {

P2pReach reach(HostProcessor host, LibraryVersion version, int gpus, TunerRules rules = TunerRules::nccl) {
  CollectiveLibrarySpec library;
  library.rules = rules;
  library.version = version;
  library.host_processor = host;
  return peer_reach(library, gpus);
}

}  // namespace

TEST_CASE("on hosts by AMD two GPUs are peers everywhere, more of them only before NCCL 2.23") {
  for (const int gpus : {2, 8}) {
    CHECK(reach(HostProcessor::intel, {2, 22, 3}, gpus) == P2pReach::direct);
    CHECK(reach(HostProcessor::arm, {2, 30, 7}, gpus) == P2pReach::direct);
    CHECK(reach(HostProcessor::amd, {2, 22, 3}, gpus) == P2pReach::all);
    CHECK(reach(HostProcessor::amd, {2, 28, 3}, gpus, TunerRules::rccl) == P2pReach::all);
  }
  CHECK(reach(HostProcessor::amd, {2, 23, 4}, 2) == P2pReach::all);
  CHECK(reach(HostProcessor::amd, {2, 23, 4}, 3) == P2pReach::direct);
}

}  // namespace c3::collectives_peer_reach_test
