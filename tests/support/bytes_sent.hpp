#pragma once

#include "collectives/transfer_graph.hpp"

namespace c3 {

/// Payload a rank sends over its links in all.
inline Bytes bytes_sent(const TransferGraph& graph, int rank) {
  Bytes sent;
  for (const Transfer& transfer : graph.transfers) {
    const bool all_contribute =
        transfer.op == TransferOp::switch_reduce || transfer.op == TransferOp::switch_all_reduce;
    if (all_contribute && transfer.src / graph.node_gpus == rank / graph.node_gpus) sent += transfer.bytes;
    if (transfer.src == rank && transfer.op != TransferOp::switch_reduce) sent += transfer.bytes;
  }
  return sent;
}

}  // namespace c3
