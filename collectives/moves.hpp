#pragma once
/// A transfer graph at the grain of simulation: what becomes one flow.

#include <cstdint>
#include <vector>

#include "collectives/transfer_graph.hpp"

namespace c3 {

/// Bytes of one edge that a move carries.
struct Leg {
  int src = 0;
  int dst = 0;
  int lane = 0;
  Bytes bytes;
};

/// One flow: every leg progresses in the same proportion.
struct Move {
  std::vector<Leg> legs;
  int hops = 1;                      ///< steps whose latency it pays, one after another
  std::vector<std::uint32_t> after;  ///< positions of moves that must have ended; all smaller than this one's
};

/// step: a move a transfer. edge: one for all transfers of a lane from one rank, which a pipeline keeps busy;
/// it pays the latency of every step. gang: one for everything. Edge and gang are exact when steps have equal
/// bytes and edges equal rates; with unequal ones they hide waiting.
std::vector<Move> plan_moves(const TransferGraph& graph, CollectiveGrain grain);

}  // namespace c3
