#include "importers/machines/known_gpus.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "configs/presets/gpu_match.hpp"

namespace c3 { inline namespace importers {
namespace {

constexpr auto kBoards = std::to_array<GpuBoard>({
    {"v100-sxm2-16gb", 3, 25, {"v100-sxm2-8"}},
    {"v100-sxm2-32gb", 3, 25, {"v100-sxm2-8"}},
    {"a100-sxm-40gb", 4, 25, {"a100-sxm-40gb-8"}},
    {"a100-sxm-80gb", 4, 25, {"a100-sxm-80gb-8"}},
    {"a100-pcie-40gb", 4, 25, {"a100-pcie-4"}},
    {"a100-pcie-80gb", 4, 25, {"a100-pcie-4"}},
    {"h100-sxm", 5, 25, {"h100-sxm-8", "h100-sxm-4"}},
    {"h100-96gb-hbm2e", 5, 25, {"h100-96gb-hbm2e-8"}},
    {"h100-pcie", 5, 25, {"h100-pcie-2"}},
    {"h200-sxm", 5, 25, {"h200-sxm-8", "h200-sxm-4"}},
    {"h20", 5, 25, {"h20-8"}},
    {"gh200", 5, 25, {"gh200-1", "gh200-4"}},
    {"b200-sxm", 5, 50, {"b200-sxm-8"}},
    {"b300-sxm", 6, 50, {"b300-sxm-8"}},
    {"gb200", 5, 50, {"gb200-nvl72", "gb200-nvl8", "gb200-nvl4"}},
    {"gb300", 6, 50, {"gb300-nvl72", "gb300-nvl8", "gb300-nvl4"}},
    {"l4", 4, 0, {"l40s-8"}},
    {"l40s", 4, 0, {"l40s-8"}},
    {"rtx-6000d", 5, 0, {"rtx-6000d-8"}},
    {"rtx-pro-6000-server", 5, 0, {"rtx-pro-6000-8"}},
    {"mi100", 4, 46, {"mi100-4"}},
    {"mi210", 4, 50, {"mi250x-8"}},
    {"mi250x-gcd", 4, 50, {"mi250x-8", "mi250x-4"}},
    {"mi300x", 5, 64, {"mi300x-8"}},
    {"mi308x", 5, 64, {"mi300x-8"}},
    {"mi325x", 5, 64, {"mi325x-8"}},
    {"mi350x", 5, 76.8, {"mi350x-8"}},
    {"mi355x", 5, 76.8, {"mi355x-8"}},
});

/// A GPU by the id that its PCI function has. Source: pci.ids (pciutils/pciids, commit c1c12547).
struct PciGpu {
  std::string_view id;
  std::string_view product;
  std::string_view preset;  ///< empty: none is shipped
};

constexpr auto kPciGpus = std::to_array<PciGpu>({
    {"10de:15f8", "Tesla P100 PCIe 16GB", "p100-pcie-16gb"},
    {"10de:1bb3", "Tesla P4", "p4"},
    {"10de:1db1", "Tesla V100 SXM2 16GB", "v100-sxm2-16gb"},
    {"10de:1db5", "Tesla V100 SXM2 32GB", "v100-sxm2-32gb"},
    {"10de:1db6", "Tesla V100 PCIe 32GB", "v100-pcie-32gb"},
    {"10de:1df5", "Tesla V100 SXM2 16GB", "v100-sxm2-16gb"},
    {"10de:1eb8", "Tesla T4", "t4"},
    {"10de:20b0", "A100 SXM4 40GB", "a100-sxm-40gb"},
    {"10de:20b1", "A100 PCIe 40GB", "a100-pcie-40gb"},
    {"10de:20b2", "A100 SXM4 80GB", "a100-sxm-80gb"},
    {"10de:20b5", "A100 PCIe 80GB", "a100-pcie-80gb"},
    {"10de:20f1", "A100 PCIe 40GB", "a100-pcie-40gb"},
    {"10de:2236", "A10", ""},
    {"10de:2237", "A10G", ""},
    {"10de:2329", "H20", "h20"},
    {"10de:2330", "H100 SXM5 80GB", "h100-sxm"},
    {"10de:2331", "H100 PCIe", "h100-pcie"},
    {"10de:2335", "H200 SXM 141GB", "h200-sxm"},
    {"10de:2342", "GH200 120GB / 480GB", "gh200"},
    {"10de:26b9", "L40S", "l40s"},
    {"10de:27b8", "L4", "l4"},
    {"10de:2901", "B200", "b200-sxm"},
    {"10de:2941", "HGX GB200", "gb200"},
    {"10de:2bb5", "RTX PRO 6000 Blackwell Server Edition", "rtx-pro-6000-server"},
    {"10de:2bb9", "RTX 6000D", "rtx-6000d"},
    {"10de:3182", "B300 SXM6 AC", "b300-sxm"},
    {"10de:31c2", "GB300", "gb300"},
    {"10de:31c3", "GB300", "gb300"},
    {"1002:738c", "Instinct MI100", "mi100"},
    {"1002:738e", "Instinct MI100", "mi100"},
    {"1002:7408", "Instinct MI250X", "mi250x-gcd"},
    {"1002:740c", "Instinct MI250X/MI250", "mi250x-gcd"},
    {"1002:740f", "Instinct MI210", "mi210"},
    {"1002:74a1", "Instinct MI300X", "mi300x"},
    {"1002:74a2", "Instinct MI308X", "mi308x"},
    {"1002:74a5", "Instinct MI325X", "mi325x"},
    {"1002:74a9", "Instinct MI300X HF", "mi300x"},
    {"1002:74b5", "Instinct MI300X VF", "mi300x"},
    {"1002:74b9", "Instinct MI325X VF", "mi325x"},
    {"1002:75a0", "Instinct MI350X", "mi350x"},
    {"1002:75a3", "Instinct MI355X", "mi355x"},
});

/// A GPU by chip and compute units, where a file of RCCL has no PCI id: CUs as AMD's data sheets have them.
struct ChipGpu {
  std::string_view chip;
  int units;
  std::string_view product;
  std::string_view preset;
};

constexpr auto kChipGpus = std::to_array<ChipGpu>({
    {"gfx906", 60, "Instinct MI50", ""},
    {"gfx906", 64, "Instinct MI60", ""},
    {"gfx908", 120, "Instinct MI100", "mi100"},
    {"gfx90a", 104, "Instinct MI250 or MI210", "mi210"},
    {"gfx90a", 110, "Instinct MI250X", "mi250x-gcd"},
    {"gfx942", 80, "Instinct MI308X", "mi308x"},
    {"gfx942", 304, "Instinct MI300X", "mi300x"},
    {"gfx950", 256, "Instinct MI350X", "mi350x"},
});

constexpr std::string_view kDieOfMi250 =
    "a die of MI250 has the 104 CUs, clock and memory of MI210 (AMD data sheets)";

constexpr std::string_view kEitherMi250 =
    "the PCI id is that of MI250X and of MI250, whose dies have 104 CUs; MI250X is taken";

}  // namespace

const GpuBoard* board_of(std::string_view preset) {
  const auto* const found = std::ranges::find(kBoards, preset, &GpuBoard::preset);
  return found == kBoards.end() ? nullptr : found;
}

std::optional<FoundGpu> gpu_named(const GpuNames& names) {
  const auto* const chip = std::ranges::find_if(
      kChipGpus, [&](const ChipGpu& gpu) { return gpu.chip == names.chip && gpu.units == names.units; });
  const auto* const pci = std::ranges::find(kPciGpus, names.pci, &PciGpu::id);
  // One id is that of both MI250X and MI250; their CUs tell them apart.
  const bool is_either = names.pci == "1002:740c";
  if (pci != kPciGpus.end() && !(is_either && chip != kChipGpus.end())) {
    return FoundGpu{.preset = std::string(pci->preset),
                    .product = std::string(pci->product),
                    .as = std::string(is_either ? kEitherMi250 : "")};
  }
  if (!names.product.empty()) {
    if (std::optional<std::string> preset = gpu_preset_of(names.product))
      return FoundGpu{.preset = std::move(*preset), .product = names.product};
  }
  if (chip != kChipGpus.end()) {
    return FoundGpu{.preset = std::string(chip->preset),
                    .product = std::string(chip->product),
                    .as = std::string(chip->preset == "mi210" ? kDieOfMi250 : "")};
  }
  if (!names.product.empty()) return FoundGpu{.preset = {}, .product = names.product};
  if (!names.pci.empty()) return FoundGpu{.preset = {}, .product = fmt::format("PCI id {}", names.pci)};
  if (names.chip.empty() || names.units == 0) return std::nullopt;
  return FoundGpu{.preset = {}, .product = fmt::format("{} with {} compute units", names.chip, names.units)};
}

std::string missing_preset(const FoundGpu& gpu) {
  if (gpu.preset.empty()) {
    return fmt::format(
        "the GPU is {}, of which c3sim has no preset (c3sim list gpus): its clocks, peaks, caches and memory "
        "are "
        "missing; write configs/gpus/NAME.toml and a node for it, as docs/extending.md says, and name that "
        "node "
        "with --system",
        gpu.product);
  }
  return fmt::format(
      "the GPU is {} (preset {}), for which c3sim has no node: which library serves it and what its links "
      "carry is "
      "missing; write a node for it, as configs/README.md says, and name it with --system",
      gpu.product, gpu.preset);
}

}}  // namespace c3::importers
