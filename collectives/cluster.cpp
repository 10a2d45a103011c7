#include "collectives/cluster.hpp"

#include <fmt/format.h>

#include "engine/errors.hpp"

namespace c3::inline collectives {
namespace {

const ClusterSpec& checked(const ClusterSpec& spec, bool folded) {
  constexpr int kMostRanks = 200'000;  // each needs some ten kB
  if (folded || spec.ranks() <= kMostRanks) return spec;
  throw InfeasibleError(
      fmt::format("{} ranks differ and must be simulated one by one, which is limited to {} ranks",
                  spec.ranks(), kMostRanks));
}

}  // namespace

Cluster::Cluster(Simulation& simulation, const ClusterSpec& spec, const ClusterSetup& setup)
    : simulation_(simulation),
      spec_(checked(spec, setup.folded)),
      setup_(setup),
      interconnect_(simulation.fluid(), spec.network(),
                    {setup.gpu.streams, setup.gpu.isolation.has(SharedResource::links), setup.folded}),
      schedules_(spec, setup.folded) {
  for (int node = 0; node < (setup.folded ? 1 : spec.nodes); ++node)
    hosts_.emplace_back(simulation);
  for (int rank = 0; rank < (setup.folded ? 1 : spec.ranks()); ++rank) {
    gpus_.push_back(std::make_unique<Gpu>(simulation, spec.gpu, setup_.gpu, rank));
  }
}

}  // namespace c3::collectives
