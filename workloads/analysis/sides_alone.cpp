#include "workloads/analysis/sides_alone.hpp"

#include <algorithm>
#include <numeric>

namespace c3 { inline namespace workloads {

std::vector<Seconds> AloneTimes::parts() const {
  return streams.empty() ? std::vector{kernels, collectives} : streams;
}

Seconds AloneTimes::longest() const { return std::ranges::max(parts()); }

Seconds AloneTimes::sum() const {
  const std::vector<Seconds> all = parts();
  return std::accumulate(all.begin(), all.end(), Seconds{});
}

Strategy own_settings(const Strategy& strategy) {
  Strategy own{.name = strategy.name, .order = {}, .streams = {}, .hbm_arbitration = strategy.hbm_arbitration};
  for (const auto& [stream, policy] : strategy.streams) {
    StreamPolicy its = policy;
    its.priority = 0;
    if (its.backend == Backend::fused) its = {.cus = policy.cus, .reserve_cus = policy.reserve_cus};
    if (its != StreamPolicy{}) own.streams.emplace(stream, its);
  }
  return own;
}

bool is_default(const Strategy& own) { return own.streams.empty() && !own.hbm_arbitration; }

}}  // namespace c3::workloads
