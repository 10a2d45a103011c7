#include <doctest/doctest.h>

#include "configs/gpu_match.hpp"

using namespace c3;

TEST_CASE("a GPU's preset is known by its driver's name, its SMs or CUs, and its memory") {
  // As recorded in public traces.
  CHECK(gpu_preset_like("NVIDIA A100-SXM4-80GB", 108, 85'174'583'296) == "a100-sxm-80gb");
  CHECK(gpu_preset_like("NVIDIA A100-PG509-200", 108, 42'505'273'344) == "a100-sxm-40gb");
  CHECK(gpu_preset_like("NVIDIA A100-PCIE-40GB", 108, 42'505'273'344) == "a100-pcie-40gb");
  CHECK(gpu_preset_like("NVIDIA H100 80GB HBM3", 132, 85'018'279'936) == "h100-sxm");
  CHECK(gpu_preset_like("AMD Instinct MI300X VF", 304, 205'571'227'648) == "mi300x");
}

TEST_CASE("a GPU without a telling name is known by its numbers alone, if one preset has them") {
  CHECK(gpu_preset_like("", 304, 206'141'652'992) == "mi300x");
  CHECK(gpu_preset_like("AMD Radeon Graphics", 304, 206'141'652'992) == "mi300x");
}

TEST_CASE("a GPU that no preset describes has none") {
  CHECK_FALSE(gpu_preset_like("NVIDIA GeForce RTX 2080 Ti", 68, 11'554'717'696));
  CHECK_FALSE(gpu_preset_like("NVIDIA A100-SXM4-80GB", 98, 85'174'583'296));
  CHECK_FALSE(gpu_preset_like("", 0, 0));
}
