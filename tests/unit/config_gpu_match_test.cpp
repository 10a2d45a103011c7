#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "configs/presets/gpu_match.hpp"
#include "configs/presets/preset_store.hpp"

namespace c3::config_gpu_match_test {

TEST_CASE("a GPU's preset is known by its driver's name, its SMs or CUs, and its memory") {
  // Names and sizes recorded in public traces.
  CHECK(gpu_preset_like("NVIDIA A100-SXM4-80GB", 108, 85'174'583'296) == "a100-sxm-80gb");
  CHECK(gpu_preset_like("NVIDIA A100-PG509-200", 108, 42'505'273'344) == "a100-sxm-40gb");
  CHECK(gpu_preset_like("NVIDIA A100-PCIE-40GB", 108, 42'505'273'344) == "a100-pcie-40gb");
  CHECK(gpu_preset_like("NVIDIA H100 80GB HBM3", 132, 85'018'279'936) == "h100-sxm");
  CHECK(gpu_preset_like("AMD Instinct MI300X VF", 304, 205'571'227'648) == "mi300x");
}

TEST_CASE("a GPU's preset is known by the name alone that its driver gives it, where one preset fits") {
  for (const auto& [device, preset] : std::vector<std::pair<std::string, std::string>>{
           {"NVIDIA H100 80GB HBM3", "h100-sxm"},
           {"NVIDIA H100 PCIe", "h100-pcie"},
           {"NVIDIA H200", "h200-sxm"},
           {"NVIDIA H20", "h20"},
           {"NVIDIA GH200 480GB", "gh200"},
           {"NVIDIA B200", "b200-sxm"},
           {"NVIDIA GB200", "gb200"},
           {"NVIDIA B300 SXM6 AC", "b300-sxm"},
           {"NVIDIA A100-SXM4-80GB", "a100-sxm-80gb"},
           {"NVIDIA A100-SXM4-40GB", "a100-sxm-40gb"},
           {"NVIDIA A100-PCIE-40GB", "a100-pcie-40gb"},
           {"NVIDIA A100 80GB PCIe", "a100-pcie-80gb"},
           {"NVIDIA L4", "l4"},
           {"NVIDIA L40S", "l40s"},
           {"Tesla T4", "t4"},
           {"Tesla P100-PCIE-16GB", "p100-pcie-16gb"},
           {"Tesla V100-SXM2-32GB", "v100-sxm2-32gb"},
           {"NVIDIA RTX PRO 6000 Blackwell Server Edition", "rtx-pro-6000-server"},
           {"NVIDIA RTX 6000D", "rtx-6000d"},
           {"AMD Instinct MI300X", "mi300x"},
           {"AMD Instinct MI300X VF", "mi300x"},
           {"AMD Instinct MI250X/MI250", "mi250x-gcd"},
           {"AMD Instinct MI100", "mi100"},
           {"h100_sxm", "h100-sxm"},
           {"H100-SXM-80GB", "h100-sxm"},
           {"a100-sxm-80gb", "a100-sxm-80gb"}}) {
    CAPTURE(device);
    CHECK(gpu_preset_of(device) == preset);
  }
}

TEST_CASE("every preset is known by its own name") {
  for (const std::string& preset : preset_names(PresetKind::gpu))
    CHECK(gpu_preset_of(preset) == preset);
}

TEST_CASE("a name that several presets or none fit has none") {
  for (const char* device :
       {"NVIDIA A100", "NVIDIA H100", "NVIDIA", "", "NVIDIA RTX 6000 Ada Generation", "NVIDIA RTX 6000",
        "NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "AMD Instinct MI300A", "NVIDIA H100 NVL",
        "Tesla V100-SXM3-32GB", "NVIDIA GeForce RTX 2080 Ti", "NVIDIA H200 80GB"}) {
    CAPTURE(device);
    CHECK_FALSE(gpu_preset_of(device));
  }
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

}  // namespace c3::config_gpu_match_test
