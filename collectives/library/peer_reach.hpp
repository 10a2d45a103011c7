#pragma once
/// Up to where a library has GPUs of a node store into each other's memory where nobody says it.

#include "collectives/spec.hpp"

namespace c3 { inline namespace collectives {

/// PCIe switches. On a host by AMD sockets, too: NCCL before 2.23 and RCCL always, NCCL from 2.23 on where the
/// node has two GPUs at most. Source: src/graph/paths.cc, ncclTopoCheckP2p, of NCCL 2.18.6 to 2.30.7 and
/// RCCL 2.21.5 and 2.28.3. Wrong when: two GPUs of more form a group, for which NCCL counts them alone.
P2pReach peer_reach(const CollectiveLibrarySpec& library, int gpus_of_node);

}}  // namespace c3::collectives
