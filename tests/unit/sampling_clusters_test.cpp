#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "tests/support/near.hpp"
#include "workloads/sampling/clusters.hpp"
#include "workloads/sampling/confidence.hpp"
#include "workloads/sampling/grouped_invocations.hpp"

namespace c3::sampling_clusters_test { namespace {

std::vector<TimedInvocation> sorted(std::vector<double> seconds) {
  std::ranges::sort(seconds);
  std::vector<TimedInvocation> members;
  for (const double time : seconds)
    members.push_back({Seconds{time}, static_cast<std::uint32_t>(members.size())});
  return members;
}

double squares(Cluster cluster) {
  const double deviation = statistics_of(cluster).deviation.value;
  return static_cast<double>(cluster.size()) * deviation * deviation;
}

TEST_CASE("mean and deviation of a cluster are the population's") {
  // 1, 2, 3, 6: mean 3, squared distances 4 + 1 + 0 + 9 = 14, over 4 members, or over 3 as a sample.
  const auto members = sorted({6, 2, 1, 3});
  const ClusterStatistics statistics = statistics_of(members);
  CHECK(statistics.mean.value == near(3.0));
  CHECK(statistics.deviation.value == near(std::sqrt(3.5)));
  CHECK(statistics.variation() == near(std::sqrt(3.5) / 3.0));
  CHECK(statistics.sample_variation() == near(std::sqrt(14.0 / 3.0) / 3.0));
  CHECK(statistics.total().value == near(12.0));
}

TEST_CASE("equal durations have no deviation at all, and are not divided") {
  const auto members = sorted(std::vector<double>(1000, 0.1));
  CHECK(statistics_of(members).deviation.value == 0.0);
  CHECK(two_means(members) == 0);
}

TEST_CASE("2-means divides where the squared distances to both means are least") {
  // {1, 2, 3} and {10, 11}: 2 + 0.5; {1, 2, 3, 10} would have 50, {1, 2} 0.5 + 38.
  CHECK(two_means(sorted({1, 2, 3, 10, 11})) == 3);
  CHECK(two_means(sorted({1, 1, 1, 1, 5})) == 4);
}

TEST_CASE("property: no other division has less squared distances") {
  CHECK(rc::check([](const std::vector<std::uint8_t>& times) {
    RC_PRE(times.size() > 1U);
    const auto members = sorted({times.begin(), times.end()});
    const Cluster cluster(members);
    double best = std::numeric_limits<double>::infinity();
    for (std::size_t k = 1; k < cluster.size(); ++k)
      best = std::min(best, squares(cluster.first(k)) + squares(cluster.subspan(k)));
    const std::size_t split = two_means(cluster);
    if (split == 0) {
      RC_ASSERT(times.end() == std::ranges::adjacent_find(times, std::not_equal_to<>()));
    } else {
      RC_ASSERT(squares(cluster.first(split)) + squares(cluster.subspan(split)) <= best + 1e-6);
    }
  }));
}

TEST_CASE(
    "95 % of a normal variable is within 1.96 deviations, and an error of a tenth takes (19.6 CoV)^2 draws") {
  CHECK(normal_quantile(0.95) == near(1.959963984540054));
  CHECK(normal_quantile(0.6826894921370859) == near(1.0));
  CHECK(draws_needed(0.5, 0.1, 0.95) == near(96.03647051735312));
}

TEST_CASE("kernels are grouped by name, or by what stands before their arguments") {
  Invocations invocations;
  for (const char* name : {"f(int)", "g", "f(float)", "f(int)"})
    invocations.add(name, Seconds{static_cast<double>(5 - invocations.size())});
  const GroupedInvocations whole(invocations, GroupKey::name), cut(invocations, GroupKey::name_before_args);
  REQUIRE(whole.groups().size() == 3);
  REQUIRE(cut.groups().size() == 2);
  CHECK(cut.groups()[0].name == "f");
  REQUIRE(cut.groups()[0].members.size() == 3);
  CHECK(cut.groups()[0].members.front().duration.value == 2.0);
  CHECK(cut.groups()[0].members.front().invocation == 3);
  CHECK(cut.groups()[0].members.back().invocation == 0);
}

}}  // namespace c3::sampling_clusters_test
