#include "gpu/compute_units.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>

namespace c3 { inline namespace gpu {
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
  while (to >= levels())
    add_level();
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
  if (best >= 0) put(xcd, best, needs, 1);
  return best;
}

int ComputeUnits::place_in_engine(int xcd, const WorkGroupNeeds& needs, CuRange range, int engine,
                                  int engines) {
  int best = -1;
  const int first = range.begin + (engine - range.begin % engines + engines) % engines;
  for (int cu = first; cu < range.end; cu += engines) {
    if (!fits(at(xcd, cu), needs)) continue;
    if (best < 0 || residents(xcd, cu) < residents(xcd, best)) best = cu;
  }
  if (best >= 0) put(xcd, best, needs, 1);
  return best;
}

// CUs that hold equally many fill in rounds, until they meet those that hold more.
void ComputeUnits::place_all(int xcd, const WorkGroupNeeds& needs, CuRange range, std::int64_t most,
                             std::vector<int>& cus) {
  std::vector<int>& fits = fits_;
  for (int residents = fewest_[static_cast<std::size_t>(xcd)]; most > 0 && residents < levels();) {
    fits.clear();
    if (count(xcd, residents) > 0) add_fits(xcd, residents, needs, range, most, fits);
    if (fits.empty()) {
      ++residents;
      continue;
    }
    const auto in_round = static_cast<std::int64_t>(fits.size());
    int next = residents + 1;
    while (next < levels() && count(xcd, next) == 0)
      ++next;
    std::int64_t rounds = most / in_round;
    if (next < levels()) rounds = std::min<std::int64_t>(rounds, next - residents);
    rounds = rounds_on(xcd, fits, needs, rounds);
    for (std::int64_t round = 0; round < rounds; ++round)
      cus.insert(cus.end(), fits.begin(), fits.end());
    for (const int cu : fits)
      put(xcd, cu, needs, static_cast<int>(rounds));
    most -= rounds * in_round;
    residents += static_cast<int>(rounds);
  }
}

/// The first \p most CUs of the range with so many residents that have room.
void ComputeUnits::add_fits(int xcd, int residents, const WorkGroupNeeds& needs, CuRange range,
                            std::int64_t most, std::vector<int>& cus) {
  const std::uint64_t* const words = with_residents(xcd, residents);
  for (int first = range.begin / kWord * kWord; first < range.end; first += kWord) {
    for (std::uint64_t left = words[first / kWord]; left != 0; left &= left - 1) {
      const int cu = first + std::countr_zero(left);
      if (cu >= range.end || std::ssize(cus) == most) return;
      if (cu >= range.begin && fits(at(xcd, cu), needs)) cus.push_back(cu);
    }
  }
}

/// How many work groups, up to \p most, each of \p cus has room for.
std::int64_t ComputeUnits::rounds_on(int xcd, std::span<const int> cus, const WorkGroupNeeds& needs,
                                     std::int64_t most) const {
  auto rounds = static_cast<double>(most);
  const auto keep = [&](double room, double of_one) {
    if (of_one > 0.0) rounds = std::min(rounds, std::floor(room / of_one));
  };
  for (const int cu : cus) {
    const Unit& unit = at(xcd, cu);
    keep(unit.waves, needs.waves);
    keep(unit.lds, needs.lds.value);
    keep(unit.registers, needs.registers.value);
  }
  return static_cast<std::int64_t>(rounds);
}

ComputeUnits::Unit& ComputeUnits::grown_to(int xcd, int cu) {
  const std::size_t unit = index(xcd, cu);
  if (unit >= units_.size()) units_.resize(unit + 1, unused_);
  return units_[unit];
}

void ComputeUnits::note_end(int xcd, int cu, ActivityId by) { grown_to(xcd, cu).last = by; }

std::vector<ComputeUnits::Occupied> ComputeUnits::occupied() const {
  std::vector<Occupied> found;
  if (busy_ == 0) return found;
  for (std::size_t i = 0; i < units_.size(); ++i) {
    const Unit& unit = units_[i];
    if (unit.residents > 0) found.push_back({i, unit.lds, unit.registers, unit.waves, unit.residents});
  }
  return found;
}

void ComputeUnits::put(int xcd, int cu, const WorkGroupNeeds& needs, int groups) {
  Unit& unit = grown_to(xcd, cu);
  unit.lds -= groups * needs.lds.value;
  unit.registers -= groups * needs.registers.value;
  unit.waves -= groups * needs.waves;
  (needs.computes ? computing_ : copies_) += groups;
  if (needs.computes) unit.computing += groups;
  move(xcd, cu, unit.residents, unit.residents + groups);
  if (unit.residents == 0) ++busy_;
  unit.residents += groups;
  changes_ += static_cast<std::uint64_t>(groups);
}

void ComputeUnits::release(int xcd, int cu, const WorkGroupNeeds& needs, ActivityId by, int groups) {
  Unit& unit = units_[index(xcd, cu)];
  unit.lds += groups * needs.lds.value;
  unit.registers += groups * needs.registers.value;
  unit.waves += groups * needs.waves;
  unit.last = by;
  (needs.computes ? computing_ : copies_) -= groups;
  if (needs.computes) unit.computing -= groups;
  move(xcd, cu, unit.residents, unit.residents - groups);
  unit.residents -= groups;
  if (unit.residents == 0) --busy_;
  changes_ += static_cast<std::uint64_t>(groups);
}

int ComputeUnits::copying(CuRange range) const {
  if (copies_ == 0) return 0;
  const std::size_t end = std::min(index(0, range.end), units_.size());
  int found = 0;
  for (std::size_t unit = index(0, range.begin); unit < end; ++unit)
    found += units_[unit].copies() ? 1 : 0;
  return found;
}

}}  // namespace c3::gpu
