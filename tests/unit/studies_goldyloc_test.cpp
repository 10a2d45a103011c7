// Products beside products: dealing them to streams, kernels tuned for a part of the GPU, and the predictor.

#include <doctest/doctest.h>

#include "configs/presets/preset_store.hpp"
#include "gpu/kernels/gemm/gemm_choice.hpp"
#include "gpu/kernels/gemm/gemm_kernel.hpp"
#include "studies/goldyloc/predictor.hpp"
#include "tests/support/near.hpp"

namespace c3::studies_goldyloc_test { namespace {

const GpuSpec& mi100() {
  static const GpuSpec kGpu = load_gpu("mi100");
  return kGpu;
}

GemmShape product(std::int64_t m, std::int64_t n, std::int64_t k) {
  return {.m = m, .n = n, .k = k, .dtype = DType::fp16};
}

KernelDescription alone(const GemmShape& shape) {
  return describe_product("gemm", shape, mi100(), fastest_plan(shape, mi100(), part_of_gpu(mi100(), 1)));
}

TEST_CASE("degrees are powers of two below what is ready, and all that is ready") {
  CHECK(degrees_for(16) == std::vector<int>{1, 2, 4, 8, 16});
  CHECK(degrees_for(3) == std::vector<int>{1, 2, 3});
  CHECK(degrees_for(1) == std::vector<int>{1});
}

TEST_CASE("kernels of one stream follow one another, a gap apart") {
  // Equal kernels, but for what is drawn of their work groups.
  const KernelDescription kernel = alone(product(1024, 1024, 1024));
  const double once = time_at_once(kernel, 1, 1, mi100()).value;
  const double busy = once - mi100().dispatch.launch_latency.value;
  CHECK(time_at_once(kernel, 4, 1, mi100()).value ==
        near(once + 3 * (busy + mi100().dispatch.dependent_gap.value), 0.03));
}

TEST_CASE("k equal products on 1/k of the GPU each gain what one leaves idle, and no more") {
  // One tile of 16 x 64 has one CU of 120: two beside one another take as long as one.
  const KernelDescription tiny = alone(product(16, 64, 4096));
  CHECK(time_at_once(tiny, 2, 2, mi100()).value == near(time_at_once(tiny, 1, 1, mi100()).value, 0.1));
  // Large ones have no room beside one another: as long as one after another, but for gaps and tails.
  const KernelDescription large = alone(product(4096, 4096, 4096));
  const double together = time_at_once(large, 2, 2, mi100()).value;
  const double in_turn = time_at_once(large, 2, 1, mi100()).value;
  CHECK(together > 0.85 * in_turn);
  CHECK(together < 1.15 * in_turn);
}

TEST_CASE("the kernel that is tuned for a part is the fastest on that part") {
  for (const GemmShape& shape :
       {product(64, 1024, 1024), product(1024, 1024, 1024), product(256, 4096, 1024)}) {
    for (const int parts : {1, 2, 4}) {
      const KernelSlice slice = part_of_gpu(mi100(), parts);
      CHECK(slice.cus == (parts == 1 ? 0 : 120 / parts));
      CHECK(slice.cache == 1.0 / parts);
      const GemmPlan tuned = fastest_plan(shape, mi100(), slice);
      const Seconds least = time_alone(describe_product("gemm", shape, mi100(), tuned), mi100(), slice).time;
      const GemmPlanner planner(shape, mi100());
      for (const GemmOffer& offer : planner.offers()) {
        const KernelDescription kernel = describe_product("gemm", shape, mi100(), planner.plan_of(offer));
        CHECK(time_alone(kernel, mi100(), slice).time >= least);
      }
    }
  }
}

TEST_CASE("a kernel that is tuned for a quarter of the GPU does not have more work groups") {
  for (const std::int64_t m : {64, 256, 1024}) {
    const GemmShape shape = product(m, 1024, 1024);
    const GemmPlan whole = fastest_plan(shape, mi100(), part_of_gpu(mi100(), 1));
    const GemmPlan quarter = fastest_plan(shape, mi100(), part_of_gpu(mi100(), 4));
    CHECK(quarter.work_groups <= whole.work_groups);
  }
}

TEST_CASE("the best tuned kernel at a degree is no slower than the one tuned alone") {
  const ReadyProducts products = {.set = "s", .name = "n", .shape = product(64, 1024, 1024), .parallel = 4};
  const DegreeTimes times = times_by_degree(products, tuned_kernels(products.shape, mi100()), mi100());
  REQUIRE(times.alone.size() == 3);
  for (const auto& [degree, time] : times.alone)
    CHECK(times.tuned.at(degree) <= time);
  CHECK(times.sequential() == times.alone.at(1));
  CHECK(times.usual() == times.alone.at(4));
}

TEST_CASE("a predictor learns which side of a line a product is on") {
  // Below 0 many at a time are fast, above 0 one is.
  std::vector<DegreeSample> samples;
  for (int i = -10; i <= 10; ++i) {
    if (i == 0) continue;
    const bool small = i < 0;
    samples.push_back({.features = {static_cast<double>(i), 1.0},
                       .degrees = {1, 2, 4},
                       .times = {1.0, small ? 0.6 : 1.1, small ? 0.4 : 1.3}});
  }
  const DegreePredictor predictor(samples);
  CHECK(predictor.pick({-5.0, 1.0}, std::vector<int>{1, 2, 4}) == 4);
  CHECK(predictor.pick({5.0, 1.0}, std::vector<int>{1, 2, 4}) == 1);
  CHECK(predictor.pick({-5.0, 1.0}, std::vector<int>{1, 2}) == 2);  // as many as are ready
}

// Two features differ by a tenth of their spread, and only that difference decides; all else favours 2.
TEST_CASE("a predictor has converged where features are nearly alike") {
  std::vector<DegreeSample> samples;
  for (int i = -10; i <= 10; ++i)
    for (const double beside : {-0.5, 0.5})
      samples.push_back({.features = {static_cast<double>(i), i + beside},
                         .degrees = {1, 2},
                         .times = {1.0, beside < 0.0 ? 0.7 : 1.3}});
  const DegreePredictor predictor(samples);
  for (const DegreeSample& sample : samples)
    CHECK(predictor.pick(sample.features, sample.degrees) == (sample.times[1] < 1.0 ? 2 : 1));
}

}}  // namespace c3::studies_goldyloc_test
