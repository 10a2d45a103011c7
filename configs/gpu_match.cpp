#include "configs/gpu_match.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <vector>

#include "configs/preset_store.hpp"

namespace c3::inline configs {
namespace {

constexpr double kNearMemory = 0.08;

std::string in_small_letters(std::string_view text) {
  std::string small(text);
  std::ranges::transform(small, small.begin(),
                         [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return small;
}

/// "a100" of "a100-sxm-80gb".
std::string family_of(const std::string& preset) { return preset.substr(0, preset.find('-')); }

bool has_numbers(const GpuSpec& gpu, std::int64_t units, std::int64_t memory_bytes) {
  const double memory = gpu.hbm.size.value;
  return gpu.compute.cus() == units &&
         std::abs(static_cast<double>(memory_bytes) - memory) <= kNearMemory * memory;
}

}  // namespace

std::optional<std::string> gpu_preset_like(std::string_view device, std::int64_t units,
                                           std::int64_t memory_bytes) {
  const std::string name = in_small_letters(device);
  const std::vector<std::string> presets = preset_names(PresetKind::gpu);
  const auto is_named = [&](const std::string& preset) {
    return name.find(family_of(preset)) != std::string::npos;
  };
  const bool names_one = std::ranges::any_of(presets, is_named);
  std::vector<std::string> fitting;
  for (const std::string& preset : presets) {
    if (names_one && !is_named(preset)) continue;
    if (has_numbers(load_gpu(preset), units, memory_bytes)) fitting.push_back(preset);
  }
  if (fitting.size() > 1) {  // a card, or a module: drivers name the card's bus
    const bool is_card = name.find("pcie") != std::string::npos;
    std::erase_if(fitting, [&](const std::string& preset) {
      return (preset.find("pcie") != std::string::npos) != is_card;
    });
  }
  return fitting.size() == 1 ? std::optional(fitting.front()) : std::nullopt;
}

}  // namespace c3::configs
