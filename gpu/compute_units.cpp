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
  ++(needs.computes ? unit.computing : copies_);
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
  --(needs.computes ? unit.computing : copies_);
  if (--unit.residents == 0) --busy_;
  ++changes_;
}

int ComputeUnits::copying(CuRange range) const {
  if (copies_ == 0) return 0;
  int found = 0;
  for (std::size_t first = 0; first < units_.size(); first += static_cast<std::size_t>(cus_per_xcd_)) {
    for (int cu = range.begin; cu < range.end; ++cu)
      found += units_[first + static_cast<std::size_t>(cu)].copies() ? 1 : 0;
  }
  return found;
}

}  // namespace c3
