#include "collectives/algorithms.hpp"

namespace c3 {
namespace {

TransferOp op_of(CollectiveKind kind) {
  if (kind == CollectiveKind::all_reduce) return TransferOp::switch_all_reduce;
  return reduces(kind) ? TransferOp::switch_reduce : TransferOp::switch_multicast;
}

}  // namespace

TransferGraph in_switch_graph(const GraphRequest& request) {
  if (!request.cluster.node.switch_reduces)
    request.refuse("needs a switch that reduces, node '" + request.cluster.node.name + "' has none");
  if (request.layout.node_count() > 1) request.refuse("reaches GPUs of one node only; see nvls_tree");
  const CollectiveCall& call = request.call;
  const Bytes shard = call.bytes / static_cast<double>(request.ranks());
  GraphBuilder graph = request.builder(1);
  for (const int rank : request.members) {
    if (is_rooted(call.kind) && rank != call.root) continue;
    if (request.form.folded && rank != 0) continue;
    graph.add({rank, rank, 0, 0, is_rooted(call.kind) ? call.bytes : shard, {}, op_of(call.kind)});
  }
  return graph.take();
}

}  // namespace c3
