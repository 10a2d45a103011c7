#include "gpu/gpu.hpp"

#include <fmt/format.h>

namespace c3 {

Gpu::Gpu(Simulation& simulation, const GpuSpec& spec, const GpuSetup& setup, int rank)
    : simulation_(simulation),
      spec_(spec),
      setup_(setup),
      rank_(rank),
      memory_(simulation.fluid(), spec, rank, setup.streams, setup.isolation),
      dma_(simulation, spec.dma, rank) {
  const bool private_cus = setup.isolation.has(SharedResource::cus);
  for (std::size_t i = 0; i < (private_cus ? setup.streams.size() : 1); ++i) {
    const std::string name = fmt::format("gpu{}.cus{}", rank, private_cus ? "." + setup.streams[i] : "");
    const ResourceId busy =
        simulation.fluid().add_resource({.name = name, .unit = "CU", .gpu = rank}, spec.compute.cus());
    auto dispatcher = std::make_unique<Dispatcher>(simulation, spec, setup.seed, busy);
    if (setup.isolation.has(SharedResource::dispatch)) dispatcher->give_own_queues();
    sides_.push_back({std::move(dispatcher), std::make_unique<CoreClock>(spec.compute.boost_clock)});
  }
}

}  // namespace c3
