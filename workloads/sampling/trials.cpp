#include "workloads/sampling/trials.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "workloads/sampling/draw.hpp"

namespace c3 { inline namespace sampling {

TrialErrors try_seeds(const SamplePlan& plan, std::uint64_t seeds) {
  constexpr double kHigh = 0.95;
  const Seconds total = plan.total();
  std::vector<double> errors;
  TrialErrors trials{.seeds = seeds};
  Seconds cost;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const DrawnSample sample = draw(plan, seed);
    errors.push_back(sample.error(total));
    cost += sample.cost;
    if (plan.bound && errors.back() <= *plan.bound) trials.within_bound += 1.0;
  }
  const auto count = static_cast<double>(seeds);
  std::ranges::sort(errors);
  for (const double error : errors)
    trials.mean += error / count;
  trials.p95 = errors[static_cast<std::size_t>(std::ceil(kHigh * count)) - 1];
  trials.worst = errors.back();
  trials.within_bound /= count;
  trials.speedup = total / (cost / count);
  return trials;
}

}}  // namespace c3::sampling
