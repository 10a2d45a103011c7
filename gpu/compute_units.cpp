#include "gpu/compute_units.hpp"

#include <algorithm>
#include <bit>

namespace c3::inline gpu {
namespace {

constexpr int kWord = 64;  // CUs

std::uint64_t bit(int cu) { return std::uint64_t{1} << static_cast<unsigned>(cu % kWord); }

}  // namespace

ComputeUnits::ComputeUnits(const ComputeSpec& spec)
    : cus_per_xcd_(spec.cus_per_xcd),
      xcds_(static_cast<std::size_t>(spec.xcds)),
      words_((static_cast<std::size_t>(spec.cus_per_xcd) + kWord - 1) / kWord),
      unused_{spec.lds_per_cu.value, spec.registers_per_cu.value, spec.wave_slots_per_cu},
      fewest_(static_cast<std::size_t>(spec.xcds), 0) {
  add_level();
  for (int xcd = 0; xcd < spec.xcds; ++xcd) {
    count(xcd, 0) = cus_per_xcd_;
    for (int cu = 0; cu < cus_per_xcd_; ++cu)
      *(with_residents(xcd, 0) + cu / kWord) |= bit(cu);
  }
}

void ComputeUnits::add_level() {
  by_residents_.resize(by_residents_.size() + xcds_ * words_);
  with_.resize(with_.size() + xcds_);
}

// The first CU of the range with so many residents that has room.
int ComputeUnits::first_fit(int xcd, int residents, const WorkGroupNeeds& needs, CuRange range) {
  const std::uint64_t* const words = with_residents(xcd, residents);
  for (int first = range.begin / kWord * kWord; first < range.end; first += kWord) {
    for (std::uint64_t left = words[first / kWord]; left != 0; left &= left - 1) {
      const int cu = first + std::countr_zero(left);
      if (cu >= range.end) return -1;
      if (cu >= range.begin && fits(at(xcd, cu), needs)) return cu;
    }
  }
  return -1;
}

void ComputeUnits::move(int xcd, int cu, int from, int to) {
  if (to == levels()) add_level();
  with_residents(xcd, from)[cu / kWord] &= ~bit(cu);
  with_residents(xcd, to)[cu / kWord] |= bit(cu);
  --count(xcd, from);
  ++count(xcd, to);
  int& fewest = fewest_[static_cast<std::size_t>(xcd)];
  fewest = std::min(fewest, to);
  while (count(xcd, fewest) == 0)
    ++fewest;
}

int ComputeUnits::place(int xcd, const WorkGroupNeeds& needs, CuRange range) {
  int best = -1;
  for (int residents = fewest_[static_cast<std::size_t>(xcd)]; best < 0 && residents < levels(); ++residents) {
    if (count(xcd, residents) > 0) best = first_fit(xcd, residents, needs, range);
  }
  if (best < 0) return -1;
  if (index(xcd, best) >= units_.size()) units_.resize(index(xcd, best) + 1, unused_);
  Unit& unit = units_[index(xcd, best)];
  unit.lds -= needs.lds.value;
  unit.registers -= needs.registers.value;
  unit.waves -= needs.waves;
  ++(needs.computes ? unit.computing : copies_);
  move(xcd, best, unit.residents, unit.residents + 1);
  if (unit.residents++ == 0) ++busy_;
  ++changes_;
  return best;
}

void ComputeUnits::release(int xcd, int cu, const WorkGroupNeeds& needs, ActivityId by) {
  Unit& unit = units_[index(xcd, cu)];
  unit.lds += needs.lds.value;
  unit.registers += needs.registers.value;
  unit.waves += needs.waves;
  unit.last = by;
  --(needs.computes ? unit.computing : copies_);
  move(xcd, cu, unit.residents, unit.residents - 1);
  if (--unit.residents == 0) --busy_;
  ++changes_;
}

int ComputeUnits::copying(CuRange range) const {
  if (copies_ == 0) return 0;
  const std::size_t end = std::min(index(0, range.end), units_.size());
  int found = 0;
  for (std::size_t unit = index(0, range.begin); unit < end; ++unit)
    found += units_[unit].copies() ? 1 : 0;
  return found;
}

}  // namespace c3::gpu
