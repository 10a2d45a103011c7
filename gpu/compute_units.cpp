#include "gpu/compute_units.hpp"

namespace c3 {

ComputeUnits::ComputeUnits(const ComputeSpec& spec)
    : cus_per_xcd_(spec.cus_per_xcd),
      units_(static_cast<std::size_t>(spec.cus()),
             Unit{spec.lds_per_cu.value, spec.registers_per_cu.value, spec.wave_slots_per_cu}) {}

int ComputeUnits::place(int xcd, const WorkGroupNeeds& needs, CuRange range) {
  int best = -1;
  for (int cu = range.begin; cu < range.end; ++cu) {
    const Unit& unit = at(xcd, cu);
    if (unit.waves < needs.waves || unit.lds < needs.lds.value || unit.registers < needs.registers.value)
      continue;
    if (best < 0 || unit.residents < at(xcd, best).residents) best = cu;
    if (unit.residents == 0) break;
  }
  if (best < 0) return -1;
  Unit& unit = at(xcd, best);
  unit.lds -= needs.lds.value;
  unit.registers -= needs.registers.value;
  unit.waves -= needs.waves;
  if (needs.computes) ++unit.computing;
  if (unit.residents++ == 0) ++busy_;
  ++changes_;
  return best;
}

void ComputeUnits::release(int xcd, int cu, const WorkGroupNeeds& needs, ActivityId by) {
  Unit& unit = at(xcd, cu);
  unit.lds += needs.lds.value;
  unit.registers += needs.registers.value;
  unit.waves += needs.waves;
  unit.last = by;
  if (needs.computes) --unit.computing;
  if (--unit.residents == 0) --busy_;
  ++changes_;
}

}  // namespace c3
