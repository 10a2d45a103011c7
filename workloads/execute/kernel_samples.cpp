#include "workloads/execute/kernel_samples.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace c3 { inline namespace workloads {

std::size_t KernelSamples::number_of(const Operator& what) {
  auto same = std::ranges::find(operators_, what);
  if (same == operators_.end()) same = operators_.insert(same, what);
  return static_cast<std::size_t>(same - operators_.begin());
}

KernelSamples::Begun& KernelSamples::begun(const Situation& situation) { return situations_[situation]; }

bool KernelSamples::is_known(const Begun& begun, const CompanyState& end) const {
  const auto its_class = begun.by_end.find(end);
  if (its_class == begun.by_end.end()) return false;
  return samples_.is_known(its_class->second);
}

Seconds KernelSamples::draw(const Begun& begun, const CompanyState& end, std::uint64_t key) const {
  return samples_.draw(begun.by_end.at(end), key);
}

void KernelSamples::add_simulated(Begun& begun, const CompanyState& end, Seconds time) {
  auto its_class = begun.by_end.find(end);
  if (its_class == begun.by_end.end()) its_class = begun.by_end.emplace(end, samples_.add_class()).first;
  samples_.add_simulated(its_class->second, time);
  begun.last_end = end;
}

void KernelSamples::add_replayed(Begun& begun, const CompanyState& end, const CompanyState& expected,
                                 Seconds time) {
  samples_.add_replayed(begun.by_end.at(expected), time);
  begun.last_end = end;
}

}}  // namespace c3::workloads
