#include "gpu/gpu.hpp"

#include <fmt/format.h>

#include "gpu/clock/governor.hpp"

namespace c3 { inline namespace gpu {

Gpu::Gpu(Simulation& simulation, const GpuSpec& spec, const GpuSetup& setup, int rank, GpuPace pace)
    : simulation_(simulation),
      spec_(spec),
      setup_(setup),
      rank_(rank),
      pace_(pace),
      memory_(simulation.fluid(), spec, rank, setup.streams, setup.isolation),
      work_(spec.hypotheses.product_after_others > 1.0),
      dma_(simulation, spec.dma, rank),
      tracker_(simulation, spec.trigger, rank) {
  if (is_governed(spec)) {
    governor_.emplace(simulation, spec, rank, pace.arithmetic());
    governor_->listen_to(memory_.hbm_loads());
  }
  const bool private_cus = setup.isolation.has(SharedResource::cus);
  for (std::size_t i = 0; i < (private_cus ? setup.streams.size() : 1); ++i) {
    const std::string name = fmt::format("gpu{}.cus{}", rank, private_cus ? "." + setup.streams[i] : "");
    const ResourceId busy =
        simulation.fluid().add_resource({.name = name, .unit = "CU", .gpu = rank}, spec.compute.cus());
    auto dispatcher = std::make_unique<Dispatcher>(simulation, spec, setup.seed, busy, setup.placements);
    if (setup.isolation.has(SharedResource::dispatch)) dispatcher->give_own_queues();
    sides_.push_back(
        {std::move(dispatcher), std::make_unique<CoreClock>(simulation.fluid(), spec, pace, governor())});
  }
}

double Gpu::cus_taken(int stream, CuRange range) {
  const int all = spec_.compute.cus();
  const int masked = all - range.size() * spec_.compute.xcds;
  return static_cast<double>(masked + dispatcher(stream).copying(range)) / all;
}

double Gpu::rewritten(int stream) {
  const double rewrites = spec_.hypotheses.release_rewrites;
  if (rewrites == 0.0) return 0.0;
  const ComputeUnits& units = dispatcher(stream).units();
  for (int xcd = 0; xcd < spec_.compute.xcds; ++xcd) {
    for (int cu = 0; cu < spec_.compute.cus_per_xcd; ++cu)
      if (units.residents(xcd, cu) > units.computing(xcd, cu)) return rewrites;
  }
  return 0.0;
}

double Gpu::slowdown_at_boost(int stream, Hertz sustained, double cus_taken) {
  const double slower = sustained / spec_.compute.boost_clock;
  if (spec_.hypotheses.power.coupling <= 0.0) return slower;
  return slower / speed_under_power_limit(spec_, sustained, memory_.traffic_of_others(stream), cus_taken);
}

}}  // namespace c3::gpu
