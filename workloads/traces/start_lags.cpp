#include "workloads/traces/start_lags.hpp"

#include <algorithm>

#include "base/statistics.hpp"

namespace c3 { inline namespace traces {
namespace {

// The longest that were observed on idle GPUs: a workstation's launch; the start behind a collective.
constexpr std::array<Picoseconds, kStartCauses> kLongest{30_us, 25_us, 25_us};
// Medians of public traces of server hosts, 2023 to 2025, where a trace shows none of its own.

std::size_t index_of(StartCause cause) { return static_cast<std::size_t>(cause); }

Picoseconds longest(StartCause cause) { return kLongest[index_of(cause)]; }

}  // namespace

TypicalLags typical_lags(const std::vector<std::vector<CauseSlack>>& causes) {
  std::array<std::vector<Picoseconds>, kStartCauses> alone;
  for (const std::vector<CauseSlack>& own : causes) {
    const auto nearest = std::ranges::min_element(own, {}, &CauseSlack::slack);
    if (nearest == own.end() || nearest->slack > longest(nearest->cause) || nearest->slack < Picoseconds{})
      continue;
    const bool is_alone = std::ranges::all_of(own, [&](const CauseSlack& other) {
      return other.cause == nearest->cause || other.slack > longest(other.cause);
    });
    if (is_alone) alone[index_of(nearest->cause)].push_back(nearest->slack);
  }
  TypicalLags typical = kUsualLags;
  for (std::size_t cause = 0; cause < kStartCauses; ++cause) {
    if (alone[cause].empty()) continue;
    typical[cause] = upper_median(std::move(alone[cause]));
  }
  return typical;
}

StartLags start_lags(std::span<const CauseSlack> causes, const TypicalLags& typical) {
  StartLags result;
  const auto excess = [&](const CauseSlack& own) { return own.slack - typical[index_of(own.cause)]; };
  const auto decided = std::ranges::min_element(causes, {}, excess);
  for (const CauseSlack& own : causes)
    result.lags.push_back(std::min(own.slack, typical[index_of(own.cause)]));
  if (decided == causes.end()) return result;
  if (decided->slack <= longest(decided->cause)) {
    result.lags[static_cast<std::size_t>(decided - causes.begin())] = decided->slack;
  } else {
    result.unexplained = excess(*decided);
  }
  return result;
}

}}  // namespace c3::traces
