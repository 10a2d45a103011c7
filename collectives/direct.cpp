#include <stdexcept>

#include "collectives/algorithms.hpp"

namespace c3 {
namespace {

/// Builds one step of all pairs after another; lane = distance in the group - 1.
class DirectGraph {
 public:
  DirectGraph(const std::vector<int>& members, int lanes)
      : members_(members), graph_{.members = members, .lanes = lanes, .steps = 1} {}

  void send(std::size_t from, std::size_t to, Bytes bytes, TransferOp op, int step = 0,
            std::vector<std::uint32_t> after = {}) {
    if (from == to || bytes.value <= 0.0) return;
    const std::size_t distance = (to + members_.size() - from) % members_.size();
    graph_.transfers.push_back(
        {members_[from], members_[to], static_cast<int>(distance) - 1, step, bytes, std::move(after), op});
  }

  template <class BytesOf>
  void send_all(TransferOp op, BytesOf bytes_of) {
    for (std::size_t distance = 1; distance < members_.size(); ++distance) {
      for (std::size_t from = 0; from < members_.size(); ++from) {
        const std::size_t to = (from + distance) % members_.size();
        send(from, to, bytes_of(from, to), op);
      }
    }
  }

  /// Every rank sends its shard on when all parts of it have come.
  void gather_sums(Bytes shard) {
    const std::vector<Transfer> sums = graph_.transfers;
    graph_.steps = 2;
    for (std::size_t distance = 1; distance < members_.size(); ++distance) {
      for (std::size_t from = 0; from < members_.size(); ++from) {
        std::vector<std::uint32_t> parts;
        for (std::size_t i = 0; i < sums.size(); ++i) {
          if (sums[i].dst == members_[from]) parts.push_back(static_cast<std::uint32_t>(i));
        }
        send(from, (from + distance) % members_.size(), shard, TransferOp::store, 1, std::move(parts));
      }
    }
  }

  TransferGraph take() { return std::move(graph_); }

 private:
  const std::vector<int>& members_;
  TransferGraph graph_;
};

}  // namespace

TransferGraph direct_graph(const CollectiveCall& call, const std::vector<int>& members) {
  const std::size_t n = members.size();
  const bool to_next = call.kind == CollectiveKind::send_receive;
  DirectGraph graph(members, to_next ? 1 : static_cast<int>(n) - 1);
  const Bytes counted = counted_bytes(call, static_cast<int>(n));
  const Bytes shard = counted / static_cast<double>(n);
  const auto to_everybody = [&](std::size_t, std::size_t) { return shard; };
  switch (call.kind) {
    case CollectiveKind::all_gather:
    case CollectiveKind::all_to_all:
    case CollectiveKind::barrier:
      graph.send_all(TransferOp::store, to_everybody);
      return graph.take();
    case CollectiveKind::reduce_scatter:
      graph.send_all(TransferOp::update, to_everybody);
      return graph.take();
    case CollectiveKind::all_reduce:
      graph.send_all(TransferOp::update, to_everybody);
      graph.gather_sums(shard);
      return graph.take();
    case CollectiveKind::all_to_all_v:
      graph.send_all(TransferOp::store,
                     [&](std::size_t from, std::size_t to) { return call.sends[from * n + to]; });
      return graph.take();
    case CollectiveKind::broadcast:
      graph.send_all(TransferOp::store, [&](std::size_t from, std::size_t) {
        return members[from] == call.root ? counted : Bytes{};
      });
      return graph.take();
    case CollectiveKind::reduce:
      graph.send_all(TransferOp::update,
                     [&](std::size_t, std::size_t to) { return members[to] == call.root ? counted : Bytes{}; });
      return graph.take();
    case CollectiveKind::send_receive:
      for (std::size_t from = 0; from < n; ++from)
        graph.send(from, (from + 1) % n, counted, TransferOp::store);
      return graph.take();
  }
  throw std::logic_error("direct_graph: unknown collective");
}

}  // namespace c3
