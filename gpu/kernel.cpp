#include "gpu/kernel.hpp"

#include <algorithm>

#include "engine/errors.hpp"

namespace c3 {

int work_groups_per_cu(const ComputeSpec& compute, const WorkGroupNeeds& needs, const std::string& kernel) {
  int fit = compute.wave_slots_per_cu / needs.waves;
  if (needs.lds.value > 0.0) fit = std::min(fit, static_cast<int>(compute.lds_per_cu / needs.lds));
  if (needs.registers.value > 0.0)
    fit = std::min(fit, static_cast<int>(compute.registers_per_cu / needs.registers));
  if (fit < 1) throw InfeasibleError("kernel '" + kernel + "': a work group does not fit into a CU");
  return fit;
}

Bytes in_flight(const ComputeSpec& compute, const KernelDescription& kernel, int on_cu) {
  return std::min(kernel.outstanding, compute.outstanding / static_cast<double>(on_cu));
}

}  // namespace c3
