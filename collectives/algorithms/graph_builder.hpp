#pragma once
/// What all algorithms write their graphs with.

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "collectives/transfer_graph.hpp"

namespace c3 { inline namespace collectives {

/// Collects transfers. \throws InfeasibleError from add() when the graph outgrows some 500 MB.
class GraphBuilder {
 public:
  /// \p name says in errors what is built.
  GraphBuilder(std::string name, TransferGraph graph) : name_(std::move(name)), graph_(std::move(graph)) {}

  std::uint32_t add(Transfer transfer);
  /// Adds \p transfer one step after what it waits for, in a stage of its own.
  std::uint32_t add_next(Transfer transfer);
  const Transfer& at(std::uint32_t position) const { return graph_.transfers[position]; }
  std::uint32_t next() const { return static_cast<std::uint32_t>(graph_.transfers.size()); }
  bool crosses(int src, int dst) const { return src / graph_.node_gpus != dst / graph_.node_gpus; }
  TransferGraph take() { return std::move(graph_); }

 private:
  std::string name_;
  TransferGraph graph_;
  std::size_t size_ = 0;  ///< transfers and dependencies
};

/// Who sends to whom in a round: a permutation of positions and its inverse.
struct Exchange {
  std::function<int(int)> to;
  std::function<int(int)> from;
};
/// Everybody sends to the one \p distance further, around \p count.
Exchange shift(int distance, int count);
/// Everybody sends to the one \p nodes further on the node ring and \p slots further on that node's ring.
Exchange shift(int nodes, int slots, int node_count, int members_per_node);
/// For the switch's operations.
Exchange with_itself();

/// Rounds in which every rank does the same: written for all ranks, or for the first one alone.
class Rounds {
 public:
  Rounds(GraphBuilder& graph, const std::vector<int>& ranks, bool folded)
      : graph_(graph), ranks_(ranks), folded_(folded) {}

  /// Everybody sends \p pattern by \p exchange when the rounds \p after have reached it. \returns the round.
  std::uint32_t add(const Transfer& pattern, const Exchange& exchange,
                    std::span<const std::uint32_t> after = {});

 private:
  struct Round {
    std::uint32_t first;
    std::function<int(int)> from;
  };
  GraphBuilder& graph_;
  const std::vector<int>& ranks_;
  bool folded_;
  std::vector<Round> rounds_;
};

}}  // namespace c3::collectives
