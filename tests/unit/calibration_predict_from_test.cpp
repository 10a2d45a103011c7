#include <doctest/doctest.h>

#include <vector>

#include "configs/presets/coefficient_file.hpp"
#include "configs/presets/preset_store.hpp"
#include "gpu/calibration/kernel_fit.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "tests/support/near.hpp"

namespace c3::calibration_predict_from_test {
namespace {

/// What is shipped, without the coefficients that Hopper has for itself: a fit of another family cannot tell
/// them.
CoefficientTable without_hopper() {
  CoefficientTable table = load_coefficients("matrix_gemm", shipped_coefficients("matrix_gemm"));
  std::erase_if(table.values, [](const auto& entry) { return entry.first.ends_with("_hopper"); });
  return table;
}

/// Products of many sizes, whose times are the model's own with the coefficients \p table.
std::vector<KernelSample> own_times(std::size_t gpu, const std::vector<GpuSpec>& gpus,
                                    const CoefficientTable& table) {
  std::vector<KernelSample> samples;
  for (std::int64_t i = 1; i <= 40; ++i) {
    const GemmShape shape{.m = 128 * i, .n = 512 + 256 * (i % 7), .k = 256 * (1 + i % 5)};
    samples.push_back({shape, gpu, {}});
  }
  const std::vector<Seconds> times = predict_kernels(samples, gpus, table);
  for (std::size_t i = 0; i < samples.size(); ++i)
    samples[i].time = times[i];
  return samples;
}

}  // namespace

TEST_CASE("a fit to the model's own times on one GPU gives those of another, whatever is held for a third") {
  const std::vector<GpuSpec> gpus = {load_gpu("a100-sxm-80gb"), load_gpu("h100-sxm")};
  const CoefficientTable shared = without_hopper();
  REQUIRE(shared.find("share_blackwell") != nullptr);
  KernelFitOptions options;
  options.hold = {"share_blackwell"};  // which the fit does not know of
  options.fit.starts = 1;
  const std::vector<KernelSample> asked = own_times(1, gpus, shared);
  const std::vector<Seconds> predicted = predict_from(own_times(0, gpus, shared), asked, gpus, shared, options);
  REQUIRE(predicted.size() == asked.size());
  for (std::size_t i = 0; i < asked.size(); ++i)
    CHECK(predicted[i].value == near(asked[i].time.value, 1e-6));
  options.hold = {"share_blakcwell"};
  CHECK_THROWS_AS(predict_from(own_times(0, gpus, shared), asked, gpus, shared, options),
                  std::invalid_argument);
}

}  // namespace c3::calibration_predict_from_test
