// What a second queue costs: work groups that wait for the shader engine whose turn it is.

#include "gpu/engine_rotation.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "tests/support/held_grids.hpp"
#include "tests/support/near.hpp"

namespace c3::gpu_engine_rotation_test {

using namespace literals;
using namespace test;

namespace {

constexpr Seconds kWave{10e-6};

/// 2 XCDs of 5 CUs, which are shader engines of 3 and 2.
GpuSpec with_engines(bool strict) {
  GpuSpec spec = round_gpu();
  spec.compute.cus_per_xcd = 5;
  spec.dispatch.shader_engines = 2;
  spec.hypotheses.strict_rotation = strict;
  return spec;
}

/// Dates on \p xcd of a grid of 10 whole CUs an XCD, each held for 10 us, beside a work group of another queue
/// on XCD 0 that needs no room of theirs and stays for \p beside.
std::vector<double> dates_beside(GpuSpec spec, Seconds beside, int xcd = 0) {
  Queues queues(std::move(spec));
  const How all{.range = {0, 5}};
  if (beside.value > 0.0) queues.submit(0.0_s, 1, beside, kLittle, all);
  HeldGrid& grid = queues.submit(0.0_s, 20, kWave, kWholeCu, {.range = {0, 5}, .order = 1});
  queues.simulation.run_without_simgrid();
  REQUIRE(grid.finished == 20);
  return dates(grid, xcd);
}

}  // namespace

TEST_CASE("with two queues a work group waits for the shader engine whose turn it is") {
  // 10 work groups on 5 CUs are two waves. In strict rotation the second begins with the engine of 2 CUs, which
  // is then full while the other has a CU left: the last work group waits for a third.
  const std::vector<double> free = dates_beside(with_engines(false), 1.0_ms);
  CHECK(std::ranges::count(free, 0.0) == 5);
  CHECK(free.back() == near(10e-6));
  const std::vector<double> strict = dates_beside(with_engines(true), 1.0_ms);
  CHECK(std::ranges::count(strict, 0.0) == 5);
  CHECK(strict[8] == near(10e-6));
  CHECK(strict[9] == near(20e-6));
}

TEST_CASE("a queue alone on the GPU goes to any shader engine, from the moment on at which it is alone") {
  CHECK(dates_beside(with_engines(true), {}).back() == near(10e-6));
  // The other queue ends at 15 us. What waits for an engine goes to the CU that has been free since 10 us, on
  // the XCD where the other queue was and on the one where it was not.
  for (const int xcd : {0, 1})
    CHECK(dates_beside(with_engines(true), 15.0_us, xcd).back() == near(15e-6));
}

TEST_CASE("a mask that leaves some shader engines without a CU passes over them") {
  GpuSpec spec = with_engines(true);
  Queues queues(spec);
  queues.submit(0.0_s, 2, 1.0_ms, kLittle, {.range = {0, 1}});
  // CUs 1 and 3 of 0 to 4 are one engine; of CU 1 alone the other has none.
  HeldGrid& grid = queues.submit(0.0_s, 4, kWave, kWholeCu, {.range = {1, 2}, .order = 1});
  queues.simulation.run_without_simgrid();
  CHECK(dates(grid, 1) == std::vector<double>{0.0, grid.placements.back().date});
  CHECK(grid.placements.back().date == near(10e-6));
}

TEST_CASE("in strict rotation every work group is placed, whatever the queues, engines and masks") {
  CHECK(rc::check([] {
    GpuSpec spec = round_gpu();
    spec.compute.cus_per_xcd = *rc::gen::inRange(1, 7);
    spec.dispatch.shader_engines = *rc::gen::inRange(1, 6);
    spec.hypotheses.strict_rotation = true;
    spec.dispatch.policy = *rc::gen::element(DispatchPolicy::oldest_first, DispatchPolicy::round_robin);
    Queues queues(spec);
    std::vector<std::pair<HeldGrid*, int>> grids;
    for (int i = 0, count = *rc::gen::inRange(1, 5); i < count; ++i) {
      const int begin = *rc::gen::inRange(0, spec.compute.cus_per_xcd);
      const int groups = *rc::gen::inRange(1, 40);
      const How how{.range = {begin, spec.compute.cus_per_xcd}, .order = i};
      grids.emplace_back(&queues.submit(Seconds{1e-6 * *rc::gen::inRange(0, 30)}, groups, kWave,
                                        *rc::gen::element(kWholeCu, kLittle), how),
                         groups);
    }
    queues.simulation.run_without_simgrid();
    for (const auto& [grid, groups] : grids)
      RC_ASSERT(grid->finished == groups);
  }));
}

}  // namespace c3::gpu_engine_rotation_test
