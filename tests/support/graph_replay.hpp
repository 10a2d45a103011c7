#pragma once
/// Replays a transfer graph: whose data are in which place, and when. Every algorithm over nodes is held to it.

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "collectives/transfer_graph.hpp"

namespace c3::test {

using Ranks = std::set<int>;

/// Finds whose data a transfer carries: its sender's and what the transfers brought that it waits for.
class Replay {
 public:
  explicit Replay(const TransferGraph& graph) : graph_(graph) {
    for (const Transfer& t : graph.transfers)
      carry(t);
  }

  const Ranks& cargo(std::size_t transfer) const { return cargo_[transfer]; }
  bool waits_at_sender = true;  ///< every transfer waits for arrivals at its sender
  bool in_order = true;         ///< and only for such that are written before it
  bool adds_twice = false;      ///< somebody's data are added to a sum that has them

  /// Bytes that \p rank gets with everybody's data in them.
  double complete_bytes(int rank) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < cargo_.size(); ++i) {
      const Transfer& t = graph_.transfers[i];
      const bool arrives = t.op == TransferOp::switch_multicast ? share_node(t.src, rank) : t.dst == rank;
      const bool is_result = t.op != TransferOp::update && t.op != TransferOp::switch_reduce;
      if (arrives && is_result) sum += t.bytes.value;
    }
    return sum;
  }

 private:
  bool share_node(int a, int b) const { return a / graph_.node_gpus == b / graph_.node_gpus; }

  static bool adds(TransferOp op) { return op == TransferOp::update || op == TransferOp::switch_reduce; }

  void carry(const Transfer& t) {
    Ranks cargo;
    std::map<int, std::pair<int, int>> sum;  // whose data, and from whom on which lane
    for (const std::uint32_t position : t.after) {
      in_order = in_order && position < cargo_.size();
      if (position >= cargo_.size()) return;
      const Transfer& before = graph_.transfers[position];
      waits_at_sender = waits_at_sender && before.dst == t.src;
      cargo.insert(cargo_[position].begin(), cargo_[position].end());
      if (!adds(before.op)) continue;
      for (const int rank : cargo_[position]) {
        const bool own = rank == t.src && before.op == TransferOp::update;
        const auto [found, is_new] = sum.try_emplace(rank, before.src, before.lane);
        // Two lanes bring two pieces from one sender.
        const bool other_piece = found->second.first == before.src && found->second.second != before.lane;
        if (own || (!is_new && !other_piece)) adds_twice = true;
      }
    }
    cargo.insert(t.src);
    if (t.op == TransferOp::switch_reduce) {
      for (const int member : graph_.members) {
        if (share_node(member, t.src)) cargo.insert(member);
      }
    }
    if (t.op == TransferOp::fabric_all_reduce) cargo.insert(graph_.members.begin(), graph_.members.end());
    cargo_.push_back(std::move(cargo));
  }

  const TransferGraph& graph_;
  std::vector<Ranks> cargo_;  ///< by transfer
};

}  // namespace c3::test
