#include "collectives/moves.hpp"

#include <map>
#include <stdexcept>
#include <utility>

namespace c3 {
namespace {

std::vector<Move> step_moves(const TransferGraph& graph) {
  std::vector<Move> moves;
  moves.reserve(graph.transfers.size());
  for (const Transfer& t : graph.transfers) {
    moves.push_back({{{t.src, t.dst, t.lane, t.bytes}}, 1, t.after});
  }
  return moves;
}

std::vector<Move> edge_moves(const TransferGraph& graph) {
  std::vector<Move> moves;
  std::map<std::pair<int, int>, std::size_t> by_edge;  // (lane, src)
  for (const Transfer& t : graph.transfers) {
    const auto [found, is_new] = by_edge.try_emplace({t.lane, t.src}, moves.size());
    if (is_new) {
      moves.push_back({{{t.src, t.dst, t.lane, t.bytes}}, 1, {}});
    } else {
      Move& move = moves[found->second];
      if (move.legs.front().dst != t.dst) throw std::logic_error("edge_moves: a lane changes its edge");
      move.legs.front().bytes += t.bytes;
      ++move.hops;
    }
  }
  return moves;
}

Move gang_move(const TransferGraph& graph) {
  Move gang{{}, graph.steps, {}};
  for (const Move& edge : edge_moves(graph))
    gang.legs.push_back(edge.legs.front());
  return gang;
}

}  // namespace

std::vector<Move> plan_moves(const TransferGraph& graph, CollectiveGrain grain) {
  switch (grain) {
    case CollectiveGrain::step:
      return step_moves(graph);
    case CollectiveGrain::edge:
      return edge_moves(graph);
    case CollectiveGrain::gang:
      return {gang_move(graph)};
  }
  throw std::logic_error("plan_moves: unknown grain");
}

}  // namespace c3
