#include "collectives/cluster.hpp"

namespace c3 {

Cluster::Cluster(Simulation& simulation, const ClusterSpec& spec, const ClusterSetup& setup)
    : simulation_(simulation),
      spec_(spec),
      setup_(setup),
      interconnect_(simulation.fluid(), spec.network(),
                    {setup.gpu.streams, setup.gpu.isolation.has(SharedResource::links), setup.folded}) {
  for (int node = 0; node < (setup.folded ? 1 : spec.nodes); ++node)
    hosts_.emplace_back(simulation);
  for (int rank = 0; rank < (setup.folded ? 1 : spec.ranks()); ++rank) {
    gpus_.push_back(std::make_unique<Gpu>(simulation, spec.gpu, setup_.gpu, rank));
  }
}

}  // namespace c3
