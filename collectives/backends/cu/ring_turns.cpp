#include "collectives/backends/cu/ring_turns.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace c3 { inline namespace collectives {

Seconds RingTurns::beyond_slowest(Seconds latency, int chunks) const {
  const double idle = (latency + alone / chunks).value;
  const double shared = ((together - alone) / chunks).value * slowest.value;
  return Seconds{0.5 * (idle + std::sqrt(idle * idle + 4.0 * shared))} - slowest;
}

void EdgeTimes::add(int lane, TransferOp op, Seconds at_channels, std::span<const Demand> demands,
                    Seconds alone, double count) {
  const std::uint32_t phase = op == TransferOp::update ? 0 : 1;
  for (const Demand& demand : demands) {
    resources_.push_back(demand.resource);
    loads_[phase][demand.resource] += demand.amount / rates_.capacity(demand.resource);
  }
  edges_.push_back(
      {lane, phase, std::max(at_channels, alone).value, at_channels.value, count, resources_.size()});
}

Seconds EdgeTimes::longest(std::span<const Demand> demands) const {
  double longest = 0.0;
  for (const Demand& demand : demands)
    longest = std::max(longest, demand.amount / rates_.capacity(demand.resource));
  return Seconds{longest};
}

// What each edge has to wait for, now that it is known what all of a phase need.
void EdgeTimes::share_links() {
  std::size_t at = 0;
  for (Edge& edge : edges_) {
    for (; at < edge.resources_end; ++at)
      edge.together = std::max(edge.together, loads_[edge.phase][resources_[at]]);
  }
}

std::map<int, RingTurns> EdgeTimes::turns() {
  share_links();
  std::map<std::pair<int, std::uint32_t>, std::vector<const Edge*>> phases;
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

}}  // namespace c3::collectives
