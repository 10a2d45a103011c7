// Waves of a large GEMM on fewer and fewer CUs: from tile geometry, and as simulated.
// LLaMA-405B up projection (N = 53,248, K = 16,384) of 4,096 tokens: 16 x 208 tiles of 256 x 256.

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "gpu/kernels/gemm/gemm_choice.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/waves.hpp"
#include "tests/support/gpu_bench.hpp"
#include "tests/support/mi300x_like.hpp"

namespace c3::gpu_waves_test {

using namespace literals;
using namespace test;

namespace {

constexpr GemmShape kUpProjection{.m = 4096, .n = 53248, .k = 16384, .dtype = DType::bf16};

std::int64_t waves_on(std::int64_t work_groups, std::int64_t slots_per_xcd) {
  return wave_count(work_groups, std::vector<std::int64_t>(8, slots_per_xcd));
}

/// Time on the first \p cus_per_xcd CUs of each XCD.
double time_on(int cus_per_xcd) {
  GpuBench bench(with_fast_memory(mi300x_like_gpu()));
  KernelLaunch launch;
  launch.range = {0, cus_per_xcd};
  const auto& ran = bench.launch(0.0_s, describe_gemm("up", kUpProjection, bench.spec), launch);
  bench.run();
  return ran.span();
}

}  // namespace

TEST_CASE("the 405B up projection is 3,328 tiles: 11, 13 and 14 waves on 304, 272 and 240 CUs") {
  const GpuSpec gpu = mi300x_like_gpu();
  const KernelDescription kernel = describe_gemm("up", kUpProjection, gpu);
  CHECK(kernel.work_groups == 3328);
  CHECK(work_groups_per_cu(gpu.compute, kernel.needs, kernel.name) == 1);
  CHECK(waves_on(3328, 38) == 11);
  CHECK(waves_on(3328, 34) == 13);
  CHECK(waves_on(3328, 30) == 14);
}

TEST_CASE("waves are of the XCD with most tiles, and two work groups on a CU halve them") {
  CHECK(waves_on(304, 38) == 1);
  CHECK(waves_on(305, 38) == 2);
  CHECK(waves_on(1, 38) == 1);
  CHECK(waves_on(3328, 2 * 38) == 6);
}

TEST_CASE("waves are of the XCD worst off: with fewest slots for its share, none counting as one") {
  CHECK(wave_count(24, std::vector<std::int64_t>{8, 8, 4}) == 2);
  CHECK(wave_count(25, std::vector<std::int64_t>{8, 8, 8}) == 2);
  CHECK(wave_count(24, std::vector<std::int64_t>{8, 0, 8}) == 8);
  CHECK(wave_count(2, std::vector<std::int64_t>{1, 1, 0}) == 1);
}

TEST_CASE("a grid is dealt to XCDs round robin: the first ones have the work groups left over") {
  CHECK(work_groups_of_xcd(10, 4, 0) == 3);
  CHECK(work_groups_of_xcd(10, 4, 1) == 3);
  CHECK(work_groups_of_xcd(10, 4, 2) == 2);
  CHECK(work_groups_of_xcd(10, 4, 3) == 2);
}

// Times by cuBLAS 13 on an H100 whose SMs were held by blocks that do nothing, in times of one tile: 4096^3 in
// 512 tiles of 256 x 128 took 1.22 times as long without one or two SMs, 1.42 without 8, 1.39 to 1.42 without
// 16 and 24; 1024 x 8192 x 8192 in 256 tiles 1.87 without 8 and 1.83 without 16 (studies/one_gpu/parts.csv).
TEST_CASE("blocks that find no SM begin when others end, and still have two tiles of their own") {
  constexpr PersistentBlocks kCublas{.blocks = 132, .own_tiles = 2};
  const auto waves = [&](std::int64_t tiles, std::int64_t held) {
    return wave_count_on(tiles, 132 - held, kCublas);
  };
  CHECK(waves(512, 0) == 4);
  CHECK(waves(512, 1) == 5);
  CHECK(waves(512, 2) == 5);
  CHECK(waves(512, 8) == 6);
  CHECK(waves(512, 16) == 6);
  CHECK(waves(512, 24) == 6);
  CHECK(waves(256, 0) == 2);
  CHECK(waves(256, 8) == 4);
  CHECK(waves(256, 16) == 4);
}

TEST_CASE("a persistent kernel that finds all its slots has the waves of its tiles") {
  for (std::int64_t tiles = 1; tiles < 700; tiles += 37) {
    CAPTURE(tiles);
    CHECK(wave_count_on(tiles, 132, {.blocks = 132, .own_tiles = 2}) == (tiles + 131) / 132);
    CHECK(wave_count_on(tiles, 100) == (tiles + 99) / 100);  // not persistent
  }
}

TEST_CASE("every tile is some block's own or dealt") {
  for (const int own : {1, 2, 3, 7}) {
    for (const std::int64_t tiles : {5, 132, 133, 200, 264, 265, 1000}) {
      const PersistentBlocks persistent{.blocks = std::min<std::int64_t>(132, tiles), .own_tiles = own};
      std::int64_t found = dealt_tiles(persistent, tiles);
      for (int round = 0; round < own; ++round)
        found += own_tiles_in_round(persistent, tiles, round, 0, persistent.blocks);
      CAPTURE(own);
      CHECK(found == tiles);
    }
  }
}

TEST_CASE("the simulated 405B up projection is 18.2 % slower without 32 CUs, 27.3 % without 64") {
  const double whole = time_on(38);
  CHECK(100.0 * (time_on(34) / whole - 1.0) == doctest::Approx(100.0 * 2 / 11).epsilon(0.2 / 18.2));
  CHECK(100.0 * (time_on(30) / whole - 1.0) == doctest::Approx(100.0 * 3 / 11).epsilon(0.2 / 27.3));
}

}  // namespace c3::gpu_waves_test
