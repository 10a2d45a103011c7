#include "workloads/execute/host_lateness.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "engine/extremes.hpp"

namespace c3 { inline namespace workloads {
namespace {

/// Point i of the grid is a count of (i / kSteps)^2 stalls, close together where lateness grows fastest.
constexpr double kSteps = 16.0;

}  // namespace

HostLateness::HostLateness(const HostStalls& stalls, const RandomStream& random)
    : stalls_(stalls), random_(random) {
  if (stalls_.every.value > 0.0) next_ = -std::log(random_->uniform(draws_++)) * stalls_.every;
}

HostLateness::HostLateness(const HostStalls& stalls, int hosts) : stalls_(stalls), hosts_(hosts) {}

Seconds HostLateness::after(Seconds work) {
  if (stalls_.every.value <= 0.0) return {};
  if (random_) return drawn(work);
  worked_ += work;
  const Seconds before = behind_;
  behind_ = expected(worked_);
  return behind_ - before;
}

Seconds HostLateness::drawn(Seconds work) {
  Seconds late;
  for (next_ -= work; next_.value <= 0.0; next_ -= stalls_.every * std::log(random_->uniform(draws_++)))
    late -= std::log(random_->uniform(draws_++)) * stalls_.lasts;
  return late;
}

Seconds HostLateness::expected(Seconds worked) {
  const double place = kSteps * std::sqrt(worked / stalls_.every);
  const auto below = static_cast<std::size_t>(place);
  while (grid_.size() < below + 2) {
    const double root = static_cast<double>(grid_.size()) / kSteps;
    grid_.push_back(expected_largest_stall_sum(root * root, hosts_));
  }
  const double share =
      (place * place - static_cast<double>(below * below)) / static_cast<double>(2 * below + 1);
  return (grid_[below] + share * (grid_[below + 1] - grid_[below])) * stalls_.lasts;
}

std::vector<HostLateness> lateness_of_threads(const HostProgram& host, int hosts, std::uint64_t seed,
                                              int rank) {
  std::vector<HostLateness> lateness;
  for (std::size_t thread = 0; thread < host.threads.size(); ++thread) {
    const std::string name = fmt::format("stalls of thread {} of rank {}", thread, rank);
    lateness.push_back(hosts > 0 ? HostLateness(host.stalls, hosts)
                                 : HostLateness(host.stalls, RandomStream(seed, name)));
  }
  return lateness;
}

}}  // namespace c3::workloads
