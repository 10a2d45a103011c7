#pragma once
/// Power of one board over time, derived from what its flows do.

#include <optional>
#include <vector>

#include "engine/simulation.hpp"
#include "gpu/kernel.hpp"
#include "gpu/spec.hpp"

namespace c3::inline gpu {

/// A resource `gpuN.derived_power` that limits nothing: flows take joules of it, so that its load is power [W]
/// and the sum over a run energy [J]. Power = idle + arithmetic of matrix products + byte_pj x bytes at HBM,
/// each spread evenly over the flow that causes it. It is there only for observers, and where the GPU's power
/// is known (is_governed). Wrong when: links, copy engines or vector units draw much, operands are not random,
/// or another kernel lowers the clock of this one, which then takes less energy.
class PowerMeter {
 public:
  /// \p gpu must outlive it.
  PowerMeter(Simulation& simulation, const GpuSpec& gpu, int rank);

  void add_traffic(std::vector<Demand>& demands, Bytes at_hbm) const;
  /// \p energy of it, as arithmetic_energy() says.
  void add_arithmetic(std::vector<Demand>& demands, Joules energy) const;
  /// Of one work group of \p kernel at its own clock, beside what its bytes take; 0 where nobody observes.
  Joules arithmetic_energy(const KernelDescription& kernel) const;

 private:
  const GpuSpec& gpu_;
  std::optional<ResourceId> resource_;
};

}  // namespace c3::gpu
