#include "results/time_unit.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>

namespace c3 { inline namespace results {

std::string TimeUnit::format(Seconds time) const { return fmt::format("{:.{}f}", time / size, decimals); }

TimeUnit unit_for(Seconds longest) {
  constexpr std::array kUnits{TimeUnit{"us", 1.0_us, 3}, TimeUnit{"ms", 1.0_ms, 3}, TimeUnit{"s", 1.0_s, 3}};
  constexpr double kReadable = 1000;  // larger numbers go to the next unit
  auto unit = *std::find_if(kUnits.begin(), kUnits.end() - 1,
                            [&](const TimeUnit& candidate) { return longest / candidate.size < kReadable; });
  for (double limit = 10; longest / unit.size >= limit && unit.decimals > 0; limit *= 10)
    --unit.decimals;
  return unit;
}

std::string clock_text(double seconds) {
  constexpr double kLongest = 1e12;  // what is longer is as long for people, and fits an integer
  const auto whole = static_cast<std::int64_t>(std::min(seconds, kLongest));
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

TimeUnit time_unit(const StudyResult& study) {
  Seconds longest;
  for (const auto& strategy : study.strategies)
    longest = std::max(longest, strategy.spread ? strategy.spread->p95 : strategy.time);
  return unit_for(longest);
}

}}  // namespace c3::results
