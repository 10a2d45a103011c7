#include "workloads/execute/board_powers.hpp"

#include <algorithm>
#include <cstddef>

#include "gpu/clock/power_governor.hpp"

namespace c3 { inline namespace workloads {
namespace {

PowerGovernor* governor_of(Cluster& cluster, int place) {
  return cluster.gpu(cluster.simulated_rank(place)).governor();
}

PowerState state_at(const Cluster& cluster, const std::vector<PowerState>& states, int place) {
  if (states.empty()) return {.mean = cluster.spec().gpu.governor.idle};
  if (states.size() == static_cast<std::size_t>(cluster.simulated_ranks()))
    return states[static_cast<std::size_t>(place)];
  return *std::ranges::max_element(states, {}, &PowerState::mean);
}

}  // namespace

void start_governors(Cluster& cluster, const std::vector<PowerState>& states) {
  if (states.empty()) return;
  for (int place = 0; place < cluster.simulated_ranks(); ++place)
    governor_of(cluster, place)->begin_at(state_at(cluster, states, place));
}

std::vector<BoardPower> board_powers(Cluster& cluster, const std::vector<PowerState>& states,
                                     const std::vector<SimulatedClass>& classes) {
  std::vector<BoardPower> powers;
  for (int place = 0; place < cluster.simulated_ranks(); ++place) {
    PowerGovernor* const its = governor_of(cluster, place);
    if (its == nullptr) return {};
    powers.push_back({.boards = classes[static_cast<std::size_t>(place)].multiplicity(),
                      .begin = state_at(cluster, states, place),
                      .end = its->state(),
                      .means = its->means()});
  }
  return powers;
}

}}  // namespace c3::workloads
