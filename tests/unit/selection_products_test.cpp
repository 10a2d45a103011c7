// Weights of rocBLAS's choices as kernels of products.

#include <doctest/doctest.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "configs/presets/learned_products.hpp"
#include "configs/presets/preset_store.hpp"
#include "configs/presets/selector_file.hpp"
#include "gpu/kernel_time.hpp"
#include "gpu/kernels/gemm/gemm_kernel.hpp"
#include "gpu/selection/problem_features.hpp"
#include "tests/unit/config_files.hpp"

namespace c3::selection_products_test {

namespace {

/// One kernel of bf16: 32 x 256 x 64 in 3 parts. Its steps are not in the order in which a kernel names them.
KernelSelector one_kernel() {
  KernelSelector selector{.features = features_of(GemmShape{.m = 1, .n = 1, .k = 1}, GpuSpec{}).size(),
                          .steps = {{"split_k", {"1", "3"}, {}},
                                    {"instruction", {"vector"}, {}},
                                    {"tile_n", {"16", "64", "256"}, {}},
                                    {"tile_m", {"32"}, {}},
                                    {"depth_k", {"8", "64"}, {}}},
                          .valid = {}};
  selector.valid.emplace("bf16", ValidSequences({{1, 0, 2, 0, 1}}));
  return selector;
}

std::string refusal_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("the numbers of a learned kernel are found by the names of the steps") {
  const KernelSelector selector = one_kernel();
  const auto choice = learned_products(selector);
  const GpuSpec gpu = load_gpu("mi100");
  for (int asked = 0; asked < 2; ++asked) {  // the second from what is kept
    const auto kernel = choice->kernel_for({64, 64, 64, DType::bf16}, gpu);
    REQUIRE(kernel.has_value());
    CHECK(kernel->tile_m == 32);
    CHECK(kernel->tile_n == 256);
    CHECK(kernel->depth_k == 64);
    CHECK(kernel->split == 3);
  }
  CHECK_FALSE(choice->kernel_for({64, 64, 64, DType::fp16}, gpu).has_value());
}

TEST_CASE("weights that give no kernel of a product are refused") {
  KernelSelector selector = one_kernel();
  selector.steps[4].what = "depth";
  CHECK(refusal_of([&] { learned_products(selector); }) == Part{"no step 'depth_k'"});
  for (const std::string wrong : {"0", "-8", "x", "16x", ""}) {
    selector = one_kernel();
    selector.steps[2].tokens[0] = wrong;
    CHECK(refusal_of([&] { learned_products(selector); }) ==
          Part{"'" + wrong + "' as a 'tile_n', which must be a whole number above 0"});
  }
  selector = one_kernel();
  selector.features += 1;
  CHECK(refusal_of([&] { learned_products(selector); }) == Part{"are of another version"});
}

TEST_CASE("without weights, or those of its family, \"library\" is refused and \"fastest\" named") {
  CHECK(refusal_of([] { learned_products(std::nullopt, "cdna1"); }) ==
        "\"library\" requires selection/rocblas.csv.gz, which no folder of presets has; \"fastest\" does not");
  const std::string error =
      error_of([] { load_gpu("h100-sxm", std::vector<std::string>{"gpu.gemm_choice=library"}); });
  CHECK(error == Part{"gpu.gemm_choice: \"library\" requires choices that were learned for GPUs of hopper"});
  CHECK(error == Part{"for cdna1, cdna2, cdna3 only; use \"fastest\""});
}

TEST_CASE("a GPU has its library's choice only when it asks for it, and equal GPUs the same one") {
  const std::vector<std::string> library = {"gpu.gemm_choice=library"};
  CHECK(load_gpu("mi300x").library_choice == nullptr);
  const GpuSpec asked = load_gpu("mi300x", library);
  REQUIRE(asked.library_choice != nullptr);
  CHECK(asked == load_gpu("mi300x", library));
}

TEST_CASE("MI100, MI210 and MI250X ask for it, and a GPU that only has their family's kernels does not") {
  for (const char* name : {"mi100", "mi210", "mi250x-gcd"}) {
    CHECK(load_gpu(name).library_choice != nullptr);
    CHECK(load_gpu(name, std::vector<std::string>{"gpu.gemm_choice=fastest"}).library_choice == nullptr);
  }
  CHECK(load_gpu("t3-80cu").library_choice == nullptr);
}

TEST_CASE("every kernel that was seen in rocBLAS's tables runs on the GPUs of its family") {
  const SelectorTable table = load_selectors(shipped_selectors("rocblas"));
  for (const auto& [family, name] : {std::pair("cdna1", "mi100"), {"cdna2", "mi210"}, {"cdna3", "mi300x"}}) {
    const GpuSpec gpu = load_gpu(name);
    KernelSelector only = table.at(family);
    for (SelectorStep& step : only.steps)
      step.trees = {};
    for (const auto& [kind, valid] : table.at(family).valid) {
      for (const TokenSequence& tokens : valid.all()) {
        only.valid.clear();
        only.valid.emplace(kind, ValidSequences({tokens}));
        const GemmShape shape{3000, 700, 5000, *value_named<DType>(kind)};
        const auto kernel = learned_products(only)->kernel_for(shape, gpu);
        REQUIRE(kernel.has_value());
        CAPTURE(kernel->tile_m);
        CAPTURE(kernel->tile_n);
        CAPTURE(kernel->depth_k);
        const KernelDescription product = describe_product("gemm", shape, gpu, plan_by(shape, gpu, *kernel));
        CHECK(time_alone(product, gpu).time.value > 0.0);
      }
    }
  }
}

}  // namespace c3::selection_products_test
