#include <doctest/doctest.h>

#include <vector>

#include "configs/coefficient_file.hpp"
#include "configs/preset_store.hpp"
#include "gpu/calibration/kernel_fit.hpp"
#include "gpu/kernels/describe.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "tests/support/near.hpp"

namespace c3 {
namespace {

/// Products of many sizes, whose times are the model's own.
std::vector<KernelSample> own_times(std::size_t gpu, const std::vector<GpuSpec>& gpus) {
  std::vector<KernelSample> samples;
  for (std::int64_t i = 1; i <= 40; ++i) {
    const GemmShape shape{.m = 128 * i, .n = 512 + 256 * (i % 7), .k = 256 * (1 + i % 5)};
    samples.push_back({shape, gpu, time_of(shape, gpus[gpu]).time});
  }
  return samples;
}

}  // namespace

TEST_CASE("a fit to the model's own times on one GPU gives those of another, whatever is held for a third") {
  const std::vector<GpuSpec> gpus = {load_gpu("a100-sxm-80gb"), load_gpu("h100-sxm")};
  const CoefficientTable shipped = load_coefficients("matrix_gemm", shipped_coefficients("matrix_gemm"));
  REQUIRE(shipped.find("share_blackwell") != nullptr);
  KernelFitOptions options;
  options.hold = {"share_blackwell"};  // which the fit does not know of
  options.fit.starts = 1;
  const std::vector<KernelSample> asked = own_times(1, gpus);
  const std::vector<Seconds> predicted = predict_from(own_times(0, gpus), asked, gpus, shipped, options);
  REQUIRE(predicted.size() == asked.size());
  for (std::size_t i = 0; i < asked.size(); ++i)
    CHECK(predicted[i].value == near(asked[i].time.value, 1e-6));
  options.hold = {"share_blakcwell"};
  CHECK_THROWS_AS(predict_from(own_times(0, gpus), asked, gpus, shipped, options), std::invalid_argument);
}

}  // namespace c3
