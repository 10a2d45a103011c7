#include "workloads/analysis/study_bounds.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "engine/errors.hpp"
#include "engine/interrupt.hpp"
#include "workloads/analysis/shorter_steps.hpp"

namespace c3 { inline namespace workloads {

Seconds of(const Strategy& strategy, const LowerBound& bound) {
  return strategy.serial ? bound.serial : bound.together();
}

const LowerBound& StudyBounds::bound(const Strategy& strategy, std::size_t draw) {
  const std::pair key(&strategy, draw);
  const auto known = known_.find(key);
  if (known != known_.end()) return known->second;
  checkpoint();
  return known_.emplace(key, lower_bound(experiments_[draw], strategy)).first->second;
}

Seconds StudyBounds::of(const Strategy& strategy, std::size_t draw) {
  return workloads::of(strategy, bound(strategy, draw));
}

void StudyBounds::check(const Strategy& strategy, std::size_t draw, Seconds time) {
  const Seconds least = of(strategy, draw);
  if (time < least)
    throw std::logic_error(fmt::format("strategy '{}' took {} s, less than its lower bound of {} s",
                                       strategy.name, time.value, least.value));
}

LowerBound StudyBounds::if_known(const Strategy& strategy) {
  if (may_be_shortened(experiments_.front())) return {};
  try {
    return bound(strategy, 0);
  } catch (const InfeasibleError&) {
    return {};  // its simulation reports what makes it so
  }
}

}}  // namespace c3::workloads
