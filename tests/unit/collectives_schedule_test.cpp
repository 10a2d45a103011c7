// Calls that are alike share one schedule.

#include <doctest/doctest.h>

#include "collectives/schedule.hpp"
#include "engine/errors.hpp"
#include "tests/support/mi300x_like.hpp"

namespace c3::collectives_schedule_test {

using namespace literals;
using namespace test;

namespace {

CollectivePlan gather(Bytes bytes) {
  CollectivePlan plan;
  plan.name = "gather";
  plan.call = {CollectiveKind::all_gather, bytes};
  plan.method.algorithm = Algorithm::ring;
  return plan;
}

}  // namespace

TEST_CASE("plans that differ in name, stream, priority or draw alone share a schedule") {
  const ClusterSpec cluster = mi300x_like_cluster(8);
  ScheduleStore store(cluster, true);
  const CollectivePlan plan = gather(1.0_GiB);
  const auto first = store.of(plan);
  CollectivePlan other = plan;
  other.name = "next gather";
  other.stream = 3;
  other.priority = 1;
  other.draw = 17;
  CHECK(store.of(other) == first);
  CHECK(store.size() == 1);
}

TEST_CASE("plans that differ in what is moved do not") {
  const ClusterSpec cluster = mi300x_like_cluster(8);
  ScheduleStore store(cluster, false);
  const CollectivePlan plan = gather(1.0_GiB);
  const auto first = store.of(plan);
  std::size_t known = 1;
  const auto differs = [&](auto change) {
    CollectivePlan other = plan;
    change(other);
    CHECK(store.of(other) != first);
    CHECK(store.size() == ++known);
    CHECK(store.of(other) == store.of(other));
  };
  differs([](CollectivePlan& p) { p.call.bytes = 2.0_GiB; });
  differs([](CollectivePlan& p) { p.call.kind = CollectiveKind::reduce_scatter; });
  differs([](CollectivePlan& p) { p.call.ranks = {0, 1, 2, 3}; });
  differs([](CollectivePlan& p) { p.call.ranks = {0, 1, 3, 2}; });  // their order is that of the ring
  differs([](CollectivePlan& p) { p.backend = Backend::dma; });
  differs([](CollectivePlan& p) { p.method.algorithm = Algorithm::direct; });
  differs([](CollectivePlan& p) { p.method.protocol = Protocol::ll; });
  differs([](CollectivePlan& p) { p.method.channels.most = 2; });
  differs([](CollectivePlan& p) { p.grain = CollectiveGrain::gang; });
}

TEST_CASE("a schedule asked for with automatic grain has one of which there are flows") {
  const ClusterSpec cluster = mi300x_like_cluster(8);
  ScheduleStore store(cluster, true);
  CollectivePlan plan = gather(1.0_GiB);
  plan.grain = CollectiveGrain::automatic;
  CHECK(store.of(plan)->grain != CollectiveGrain::automatic);
}

TEST_CASE("a plan that cannot run is refused each time, and nothing is kept of it") {
  const ClusterSpec cluster = mi300x_like_cluster(8);
  ScheduleStore store(cluster, true);
  CollectivePlan plan = gather(1.0_GiB);
  plan.method.algorithm = Algorithm::nvls;  // a mesh has no switch
  CHECK_THROWS_AS(store.of(plan), InfeasibleError);
  CHECK_THROWS_AS(store.of(plan), InfeasibleError);
  CHECK(store.size() == 0);
}

}  // namespace c3::collectives_schedule_test
