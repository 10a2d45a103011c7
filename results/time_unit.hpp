#pragma once

#include <string>

#include "engine/units.hpp"
#include "workloads/analysis/study.hpp"

namespace c3 { inline namespace results {

/// One unit for all times that are shown together, so that they compare at a glance.
struct TimeUnit {
  const char* name;
  Seconds size;
  int decimals;  ///< four digits for the longest time

  std::string format(Seconds time) const;
};

TimeUnit unit_for(Seconds longest);
/// The one that fits the longest time of \p study.
TimeUnit time_unit(const StudyResult& study);

/// Wall time in whole seconds: "1:02:03", hours first.
std::string clock_text(double seconds);

}}  // namespace c3::results
