#include "workloads/sampling/methods/all_together.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "workloads/sampling/confidence.hpp"

namespace c3 { inline namespace sampling {

SamplePlan plan_all_together(std::string_view method, DrawRule draws, const Invocations& invocations,
                             const SampleRequest& request) {
  const auto members = std::make_shared<std::vector<TimedInvocation>>(invocations.size());
  for (std::size_t i = 0; i < invocations.size(); ++i)
    (*members)[i] = {invocations.duration(i), static_cast<std::uint32_t>(i)};
  std::ranges::sort(*members);
  PlannedCluster all{.kernel = {}, .members = *members, .statistics = statistics_of(*members)};
  const double asked = request.samples > 0
                           ? static_cast<double>(request.samples)
                           : std::ceil(draws_needed(all.statistics.variation(), kFilledBound * request.error,
                                                    request.confidence));
  all.samples = static_cast<std::size_t>(std::clamp(asked, 1.0, static_cast<double>(members->size())));
  return {.method = method,
          .draws = draws,
          .clusters = {all},
          .bound = std::nullopt,
          .confidence = request.confidence,
          .storage = members};
}

}}  // namespace c3::sampling
