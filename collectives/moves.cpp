#include "collectives/moves.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

namespace c3 {
namespace {

Leg leg_of(const Transfer& t, double part = 1.0) { return {t.src, t.dst, t.lane, t.bytes * part, t.op}; }

void add_leg(Move& move, const Leg& leg) {
  const auto same = std::ranges::find_if(move.legs, [&](const Leg& other) {
    return other.src == leg.src && other.dst == leg.dst && other.lane == leg.lane && other.op == leg.op;
  });
  if (same == move.legs.end()) {
    move.legs.push_back(leg);
  } else {
    same->bytes += leg.bytes;
  }
}

/// One of \p chunks equal parts of every transfer, after the same part of those before it.
void add_chunk(std::vector<Move>& moves, const TransferGraph& graph, int chunks) {
  const auto first = static_cast<std::uint32_t>(moves.size());
  for (const Transfer& t : graph.transfers) {
    Move& move = moves.emplace_back(Move{{leg_of(t, 1.0 / chunks)}, 1, t.after});
    for (std::uint32_t& before : move.after)
      before += first;
  }
}

std::vector<Move> step_moves(const TransferGraph& graph, int chunks) {
  std::vector<Move> moves;
  const std::size_t transfers = graph.transfers.size();
  moves.reserve(transfers * static_cast<std::size_t>(chunks));
  for (int chunk = 0; chunk < chunks; ++chunk) {
    const std::size_t first = moves.size();
    add_chunk(moves, graph, chunks);
    for (std::size_t i = first; chunk > 0 && i < moves.size(); ++i)
      moves[i].behind = static_cast<std::uint32_t>(i - transfers);
  }
  return moves;
}

std::vector<Move> edge_moves(const TransferGraph& graph) {
  std::vector<Move> moves;
  std::map<std::pair<int, int>, std::size_t> by_edge;  // (lane, src)
  for (const Transfer& t : graph.transfers) {
    const auto [found, is_new] = by_edge.try_emplace({t.lane, t.src}, moves.size());
    if (is_new) {
      moves.push_back({{leg_of(t)}, 1, {}});
    } else {
      Move& move = moves[found->second];
      if (move.legs.front().dst != t.dst) throw std::logic_error("edge_moves: a lane changes its edge");
      add_leg(move, leg_of(t));
      ++move.hops;
    }
  }
  return moves;
}

std::vector<Move> pipeline_moves(const TransferGraph& graph, int chunks) {
  std::vector<Move> moves;
  add_chunk(moves, graph, chunks);
  if (chunks == 1) return moves;
  const double rest = (chunks - 1.0) / chunks;
  for (std::size_t i = 0; i < graph.transfers.size(); ++i) {
    moves.push_back({{leg_of(graph.transfers[i], rest)}, 0, {}, static_cast<std::uint32_t>(i)});
  }
  return moves;
}

std::vector<Move> gang_moves(const TransferGraph& graph) {
  Move gang{{}, graph.steps, {}};
  for (const Move& edge : edge_moves(graph))
    gang.legs.insert(gang.legs.end(), edge.legs.begin(), edge.legs.end());
  return {gang};
}

std::vector<Move> pipeline_gang_moves(const TransferGraph& graph, int chunks) {
  std::vector<Move> moves(static_cast<std::size_t>(graph.steps));
  for (std::uint32_t step = 1; step < moves.size(); ++step)
    moves[step].after = {step - 1};
  for (const Transfer& t : graph.transfers)
    add_leg(moves[static_cast<std::size_t>(t.step)], leg_of(t, 1.0 / chunks));
  if (chunks == 1) return moves;
  Move rest{{}, 0, {}, static_cast<std::uint32_t>(moves.size() - 1)};
  for (const Transfer& t : graph.transfers)
    add_leg(rest, leg_of(t, (chunks - 1.0) / chunks));
  moves.push_back(std::move(rest));
  return moves;
}

}  // namespace

std::vector<Move> plan_moves(const TransferGraph& graph, CollectiveGrain grain, int chunks) {
  if (chunks < 1) throw std::logic_error("plan_moves: at least one chunk");
  switch (grain) {
    case CollectiveGrain::step:
      return step_moves(graph, graph.pipelined ? chunks : 1);
    case CollectiveGrain::edge:
      return graph.pipelined ? pipeline_moves(graph, chunks) : edge_moves(graph);
    case CollectiveGrain::gang:
      return graph.pipelined ? pipeline_gang_moves(graph, chunks) : gang_moves(graph);
  }
  throw std::logic_error("plan_moves: unknown grain");
}

}  // namespace c3
