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
  return is_frozen_ ? known_.at(its_class->second) : samples_.is_known(its_class->second);
}

Seconds KernelSamples::draw(const Begun& begun, const CompanyState& end, std::uint64_t key) const {
  return samples_.draw(begun.by_end.at(end), key);
}

void KernelSamples::add_simulated(Begun& begun, const CompanyState& end, const CompanyState& expected,
                                  Seconds time) {
  if (end != expected) {
    const auto thought = begun.by_end.find(expected);
    if (thought != begun.by_end.end()) {
      const Seconds mean = samples_.mean(thought->second);
      expected_ += mean;
      altered_ += Seconds{std::abs((time - mean).value)};
    }
  }
  if (is_frozen_) return;
  auto its_class = begun.by_end.find(end);
  if (its_class == begun.by_end.end()) its_class = begun.by_end.emplace(end, samples_.add_class()).first;
  samples_.add_simulated(its_class->second, time);
  begun.last_end = end;
}

void KernelSamples::add_replayed(Begun& begun, const CompanyState& end, const CompanyState& expected,
                                 Seconds time) {
  samples_.add_replayed(begun.by_end.at(expected), time);
  if (!is_frozen_) begun.last_end = end;
}

void KernelSamples::freeze() {
  is_frozen_ = true;
  for (const auto& [situation, begun] : situations_) {
    for (const auto& [end, number] : begun.by_end) {
      if (number >= known_.size()) known_.resize(number + 1, false);
      known_[number] = samples_.is_known(number);
    }
  }
}

double KernelSamples::effect_of_surprises() const { return expected_.value > 0.0 ? altered_ / expected_ : 1.0; }

}}  // namespace c3::workloads
