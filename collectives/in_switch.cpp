#include "collectives/algorithms.hpp"

namespace c3 {
namespace {

TransferOp op_of(CollectiveKind kind) {
  if (kind == CollectiveKind::all_reduce) return TransferOp::switch_all_reduce;
  return reduces(kind) ? TransferOp::switch_reduce : TransferOp::switch_multicast;
}

}  // namespace

TransferGraph in_switch_graph(const CollectiveCall& call, const std::vector<int>& members) {
  TransferGraph graph{.members = members, .lanes = 1, .steps = 1};
  const bool rooted = call.kind == CollectiveKind::broadcast || call.kind == CollectiveKind::reduce;
  const Bytes shard = call.bytes / static_cast<double>(members.size());
  for (const int rank : members) {
    if (rooted && rank != call.root) continue;
    graph.transfers.push_back({rank, rank, 0, 0, rooted ? call.bytes : shard, {}, op_of(call.kind)});
  }
  return graph;
}

}  // namespace c3
