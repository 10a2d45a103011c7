#include "collectives/backends/cu/ring_turns.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace c3::inline collectives {

Seconds RingTurns::beyond_slowest(Seconds latency, int chunks) const {
  const double idle = (latency + alone / chunks).value;
  const double shared = ((together - alone) / chunks).value * slowest.value;
  return Seconds{0.5 * (idle + std::sqrt(idle * idle + 4.0 * shared))} - slowest;
}

void EdgeTimes::add(int lane, TransferOp op, Seconds at_channels, std::span<const Demand> demands,
                    std::span<const Demand> alone, double count) {
  demands_.insert(demands_.end(), demands.begin(), demands.end());
  alone_.insert(alone_.end(), alone.begin(), alone.end());
  const std::size_t phase = op == TransferOp::update ? 0 : 1;
  edges_.push_back({lane, phase, at_channels.value, at_channels.value, count, demands_.size(), alone_.size()});
}

// First what each resource needs for all edges of a phase, then what each edge has to wait for.
void EdgeTimes::share_links(const FlowSolver& rates) {
  const auto last = std::ranges::max_element(demands_, {}, &Demand::resource);
  if (last == demands_.end()) return;
  std::array<std::vector<double>, 2> loads;  // by phase and resource [s]
  for (std::vector<double>& of_phase : loads)
    of_phase.assign(std::size_t{last->resource} + 1, 0.0);
  const auto for_each_demand = [&](const auto& visit) {
    std::size_t at = 0;
    for (Edge& edge : edges_) {
      for (; at < edge.demands_end; ++at)
        visit(edge, demands_[at], loads[edge.phase][demands_[at].resource]);
    }
  };
  for_each_demand([&rates](Edge&, const Demand& demand, double& load) {
    load += demand.amount / rates.capacity(demand.resource);
  });
  for_each_demand(
      [](Edge& edge, const Demand&, double load) { edge.together = std::max(edge.together, load); });
  std::size_t at = 0;
  for (Edge& edge : edges_) {
    for (; at < edge.alone_end; ++at)
      edge.alone = std::max(edge.alone, alone_[at].amount / rates.capacity(alone_[at].resource));
  }
}

std::map<int, RingTurns> EdgeTimes::turns(const FlowSolver& rates) {
  share_links(rates);
  std::map<std::pair<int, std::size_t>, std::vector<const Edge*>> phases;
  for (const Edge& edge : edges_)
    phases[{edge.lane, edge.phase}].push_back(&edge);
  std::map<int, RingTurns> turns;
  for (const auto& [place, edges] : phases) {
    // A phase has a step less than the ring has edges: its longest way misses the fastest.
    const auto mean_of_way = [&edges = edges](double Edge::*time) {
      double sum = 0.0, count = 0.0, fastest = edges.front()->*time;
      for (const Edge* edge : edges) {
        sum += edge->count * (edge->*time);
        count += edge->count;
        fastest = std::min(fastest, edge->*time);
      }
      return Seconds{(sum - fastest) / std::max(1.0, count - 1.0)};
    };
    const auto by_time = [](const Edge* a, const Edge* b) { return a->together < b->together; };
    RingTurns& lane = turns[place.first];
    lane.slowest += Seconds{(*std::ranges::max_element(edges, by_time))->together};
    lane.together += mean_of_way(&Edge::together);
    lane.alone += mean_of_way(&Edge::alone);
  }
  return turns;
}

}  // namespace c3::collectives
