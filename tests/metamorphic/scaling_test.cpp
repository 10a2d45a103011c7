// A change of units must not change the physics.

#include <doctest/doctest.h>

#include "configs/fields/fabric_fields.hpp"
#include "configs/fields/gpu_fields.hpp"
#include "configs/fields/library_fields.hpp"
#include "configs/fields/node_fields.hpp"
#include "tests/support/main_job.hpp"
#include "tests/support/near.hpp"

namespace c3::test::scaling_test { namespace {

/// Every rate times \p factor, every duration divided by it; sizes stay. The tables of keys say what there is,
/// so that a new rate cannot be forgotten here.
Experiment faster(Experiment job, double factor) {
  const auto scale = [factor](const std::string&, QuantityOf quantity) {
    if (quantity.dimension == Dimension::duration) *quantity.value /= factor;
    const bool is_rate = quantity.dimension != Dimension::duration && quantity.dimension != Dimension::bytes;
    if (is_rate) *quantity.value *= factor;
  };
  each_quantity(job.cluster.gpu, scale);
  each_quantity(job.cluster.node, scale);
  each_quantity(job.cluster.library, scale);
  if (job.cluster.fabric) each_quantity(*job.cluster.fabric, scale);
  return job;
}

void check_scaling(const Experiment& job, double factor) {
  const Experiment scaled = faster(job, factor);
  for (std::size_t i = 0; i < job.strategies.size(); ++i) {
    CAPTURE(job.name);
    CAPTURE(job.strategies[i].name);
    const Seconds before = run_strategy(job, job.strategies[i]).time;
    const Seconds after = run_strategy(scaled, scaled.strategies[i]).time;
    CHECK(after.value * factor == near(before.value, 1e-9));
  }
}

TEST_CASE("all rates times lambda and latencies by lambda give all times by lambda: main job") {
  for (const double factor : {0.25, 3.7})
    check_scaling(main_job(), factor);
}

TEST_CASE("all rates times lambda and latencies by lambda give all times by lambda: random jobs") {
  for (std::uint64_t number = 1; number <= 20; ++number)
    check_scaling(random_job(number), 2.0);
}

}}  // namespace c3::test::scaling_test
