// What sits beside what on a CU.

#include "gpu/compute_units.hpp"

#include <doctest/doctest.h>

#include "engine/errors.hpp"
#include "tests/support/gpu_bench.hpp"

namespace c3::gpu_compute_units_test {

using namespace literals;
using namespace test;

namespace {

/// Work groups that one CU takes until it is full.
int fill(ComputeUnits& units, const WorkGroupNeeds& needs, CuRange cu) {
  int placed = 0;
  while (units.place(0, needs, cu) >= 0)
    ++placed;
  return placed;
}

constexpr CuRange kFirst{0, 1};

}  // namespace

TEST_CASE("LDS, registers or wave slots, whichever runs out first, say how many work groups share a CU") {
  const GpuSpec gpu = round_gpu();  // 64 KiB, 512 KiB, 32 waves
  const auto fit = [&](const WorkGroupNeeds& needs) {
    ComputeUnits units(gpu.compute);
    const int placed = fill(units, needs, kFirst);
    CHECK(placed == work_groups_per_cu(gpu.compute, needs, "k"));
    return placed;
  };
  CHECK(fit({.lds = 20.0_KiB, .registers = 100.0_KiB, .waves = 4}) == 3);
  CHECK(fit({.lds = 10.0_KiB, .registers = 250.0_KiB, .waves = 4}) == 2);
  CHECK(fit({.lds = 10.0_KiB, .registers = 100.0_KiB, .waves = 8}) == 4);
  CHECK(fit({.lds = {}, .registers = {}, .waves = 1}) == 32);
}

TEST_CASE("a work group that no CU holds is refused by the kernel's name") {
  const GpuSpec gpu = round_gpu();
  CHECK_THROWS_WITH_AS(work_groups_per_cu(gpu.compute, {.lds = 65.0_KiB, .registers = {}}, "flash"),
                       "kernel 'flash': a work group does not fit into a CU", InfeasibleError);
  CHECK_THROWS_AS(work_groups_per_cu(gpu.compute, {.lds = {}, .registers = 513.0_KiB}, "flash"),
                  InfeasibleError);
  CHECK_THROWS_AS(work_groups_per_cu(gpu.compute, {.lds = {}, .registers = {}, .waves = 33}, "flash"),
                  InfeasibleError);
}

TEST_CASE("unlike work groups share a CU as far as each resource lasts") {
  ComputeUnits units(round_gpu().compute);
  const WorkGroupNeeds gemm{.lds = 64.0_KiB, .registers = 256.0_KiB, .waves = 4};
  const WorkGroupNeeds channel{.lds = 1.0_KiB, .registers = 100.0_KiB, .waves = 4, .computes = false};
  const WorkGroupNeeds lean{.lds = {}, .registers = 100.0_KiB, .waves = 4, .computes = false};
  CHECK(fill(units, gemm, kFirst) == 1);
  CHECK(fill(units, channel, kFirst) == 0);  // no LDS is left
  CHECK(fill(units, lean, kFirst) == 2);     // registers for two
  CHECK(units.residents(0, 0) == 3);
  CHECK(units.computing(0, 0) == 1);
  units.release(0, 0, gemm, 7);
  CHECK(fill(units, channel, kFirst) == 3);
  CHECK(units.computing(0, 0) == 0);
  CHECK(units.last_released_by(0, 0) == 7);
}

TEST_CASE("work groups spread over the emptiest CUs of the range first") {
  ComputeUnits units(round_gpu().compute);
  const WorkGroupNeeds needs{.lds = 16.0_KiB, .registers = {}, .waves = 4};
  CHECK(units.place(1, needs, {1, 4}) == 1);
  CHECK(units.place(1, needs, {1, 4}) == 2);
  CHECK(units.place(1, needs, {1, 4}) == 3);
  CHECK(units.place(1, needs, {1, 4}) == 1);
  units.release(1, 2, needs, 1);
  CHECK(units.place(1, needs, {1, 4}) == 2);
  CHECK(units.busy() == 3);
  CHECK(units.residents(0, 1) == 0);  // of the other XCD
}

TEST_CASE("CUs beyond the last that has held a work group are empty, and copying ones count in every XCD") {
  ComputeUnits units(round_gpu().compute);
  const WorkGroupNeeds copy{.lds = {}, .registers = {}, .waves = 4, .computes = false};
  CHECK(units.place(1, copy, {2, 3}) == 2);
  CHECK(units.copying({0, 2}) == 0);
  CHECK(units.copying({2, 3}) == 1);
  CHECK(units.copying(units.all()) == 1);
  CHECK(units.place(0, copy, {3, 4}) == 3);
  CHECK(units.copying({3, 4}) == 1);
  CHECK(units.copying(units.all()) == 2);
  CHECK(units.residents(1, 3) == 0);
  CHECK(units.last_released_by(1, 3) == kNoActivity);
}

}  // namespace c3::gpu_compute_units_test
