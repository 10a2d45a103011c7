#include "workloads/tune/energy_bound.hpp"

#include <algorithm>

#include "gpu/clock/governor.hpp"

namespace c3 { inline namespace workloads {

ProductEnergy product_energy(const Script& script, const GpuSpec& gpu, PowerLoads& loads) {
  const Watts beyond_idle = power_limit(gpu) - gpu.governor.idle;
  ProductEnergy energy;
  for (const std::vector<Operation>& stream : script.streams) {
    Joules least;
    for (const Operation& operation : stream) {
      const Operator* op = kernel_of(operation);
      const auto load = op == nullptr ? std::nullopt : loads.of(operation.name, *op);
      if (!load) continue;
      least += std::min(load->energy, beyond_idle * load->arithmetic);
      energy.at_boost += load->energy;
    }
    energy.least = std::max(energy.least, least);
  }
  return energy;
}

std::vector<double> ranks_by_script(const Program& program, int ranks) {
  std::vector<double> counts(program.scripts.size());
  if (program.ranks.empty()) counts.at(0) = ranks;
  for (const RankSpan& span : program.ranks)
    counts[span.script] += span.end - span.begin;
  return counts;
}

Joules least_energy(const GpuSpec& gpu, const ProductEnergy& energy, Seconds time) {
  return kHeldPower * std::min(power_limit(gpu) * time, gpu.governor.idle * time + energy.least);
}

Joules likely_energy(const GpuSpec& gpu, const ProductEnergy& energy, Seconds time) {
  return std::min(power_limit(gpu) * time, gpu.governor.idle * time + energy.at_boost);
}

}}  // namespace c3::workloads
