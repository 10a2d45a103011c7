#include "gpu/clock/power_meter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "gpu/clock/governor.hpp"
#include "gpu/kernel_time.hpp"

namespace c3::inline gpu {
namespace {

constexpr double kPico = 1e-12;

}  // namespace

PowerMeter::PowerMeter(Simulation& simulation, const GpuSpec& gpu, int rank) : gpu_(gpu) {
  if (!simulation.is_observed() || !is_governed(gpu)) return;
  const std::string name = fmt::format("gpu{}.derived_power", rank);
  resource_ = simulation.fluid().add_resource(
      {.name = name, .unit = "W", .gpu = rank, .always = gpu.governor.idle.value}, kUnbounded);
}

void PowerMeter::add_traffic(std::vector<Demand>& demands, Bytes at_hbm) const {
  if (resource_) add_demand(demands, *resource_, kPico * gpu_.governor.byte_pj * at_hbm.value);
}

void PowerMeter::add_arithmetic(std::vector<Demand>& demands, Joules energy) const {
  if (resource_) add_demand(demands, *resource_, energy.value);
}

Joules PowerMeter::arithmetic_energy(const KernelDescription& kernel) const {
  if (!resource_ || kernel.power.value <= 0.0) return {};
  const KernelTime alone = time_alone(kernel, gpu_, {.launch = LaunchCost::device});
  const Joules all = (kernel.power - gpu_.governor.idle) * alone.time;
  const Joules traffic{kPico * gpu_.governor.byte_pj * (alone.hbm_read + alone.hbm_write).value};
  return {std::max(0.0, all.value - traffic.value) / static_cast<double>(kernel.work_groups)};
}

}  // namespace c3::gpu
