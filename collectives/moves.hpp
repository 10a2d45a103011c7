#pragma once
/// A transfer graph at the grain of simulation: what becomes one flow.

#include <cstdint>
#include <optional>
#include <vector>

#include "collectives/transfer_graph.hpp"

namespace c3 {

/// Bytes of one edge that a move carries.
struct Leg {
  int src = 0;
  int dst = 0;
  int lane = 0;
  Bytes bytes;
  TransferOp op = TransferOp::store;
};

/// One flow: every leg progresses in the same proportion.
struct Move {
  std::vector<Leg> legs;
  int hops = 1;                      ///< steps whose latency it pays, one after another
  std::vector<std::uint32_t> after;  ///< positions of moves that must have ended; all smaller than this one's
  /// Position of what goes ahead of it on the same edge: it starts when that has ended, its latency is hidden.
  std::optional<std::uint32_t> behind = std::nullopt;
};

/// step: a move a transfer; of a pipelined graph one for each of \p chunks equal parts of a transfer. edge: one
/// for all transfers of a lane from one rank, which a pipeline keeps busy; it pays the latency of every step.
/// Of a pipelined graph two a transfer: the first chunk, which fills the pipeline, and the rest behind it.
/// gang: one for everything; of a pipelined graph one more for each step of the first chunk. Edge and gang are
/// exact when steps have equal bytes and edges equal rates; with unequal ones they hide waiting.
std::vector<Move> plan_moves(const TransferGraph& graph, CollectiveGrain grain, int chunks = 1);

}  // namespace c3
