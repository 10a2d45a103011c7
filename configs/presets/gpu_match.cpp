#include "configs/presets/gpu_match.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <vector>

#include "base/small_letters.hpp"
#include "configs/presets/preset_store.hpp"

namespace c3 { inline namespace configs {
namespace {

constexpr double kNearMemory = 0.08;

/// "a100", "sxm4" and "80gb" of "A100-SXM4-80GB".
std::vector<std::string> words_of(std::string_view name) {
  constexpr std::string_view kBetween = " -_/()";
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < name.size();) {
    const std::size_t end = std::min(name.find_first_of(kBetween, begin), name.size());
    if (end > begin) words.push_back(in_small_letters(name.substr(begin, end - begin)));
    begin = end + 1;
  }
  return words;
}

bool has(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

/// Gigabytes that a word tells, as "80gb" and "144g" do.
std::optional<double> gigabytes_in(std::string_view word) {
  double number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  const std::string_view unit(end, static_cast<std::size_t>(word.data() + word.size() - end));
  return error == std::errc() && (unit == "gb" || unit == "g") ? std::optional(number) : std::nullopt;
}

/// Whether \p word says how the part is built; drivers leave such words out of some names. Such a word in a
/// preset's name does not distinguish parts.
bool is_of_build(std::string_view word) {
  return word == "sxm" || word == "pcie" || word == "gcd" || word.starts_with("hbm") || gigabytes_in(word);
}

/// Words of drivers that tell no GPU from another here: makers and lines, and what they say of a whole card or
/// module. MI250 is the slower sibling in MI250X's name; the 480 GB of a GH200 are its CPU's.
bool tells_nothing(std::string_view word) {
  constexpr std::array<std::string_view, 12> kWords{"nvidia",    "amd",     "tesla", "instinct",
                                                    "graphics",  "vf",      "oam",   "ac",
                                                    "blackwell", "edition", "mi250", "480gb"};
  return std::ranges::find(kWords, word) != kWords.end();
}

/// Whether \p word of a driver is true of \p gpu, whose name has the words \p name.
bool is_true_of(const GpuSpec& gpu, const std::vector<std::string>& name, const std::string& word) {
  constexpr double kNear = 0.1;  // tolerance between sizes as sold and as reported
  if (has(name, word) || tells_nothing(word)) return true;
  if (word.size() == 4 && word.starts_with("sxm")) return has(name, "sxm");  // "sxm5", of a generation
  if (word.starts_with("hbm")) return word == gpu.hbm.technology;
  const std::optional<double> gigabytes = gigabytes_in(word);
  const double holds = gpu.hbm.size.value / 1e9;
  return gigabytes && std::abs(*gigabytes - holds) <= kNear * holds;
}

/// "a100" of "a100-sxm-80gb".
std::string family_of(const std::string& preset) { return preset.substr(0, preset.find('-')); }

bool has_numbers(const GpuSpec& gpu, std::int64_t units, std::int64_t memory_bytes) {
  const double memory = gpu.hbm.size.value;
  return gpu.compute.cus() == units &&
         std::abs(static_cast<double>(memory_bytes) - memory) <= kNearMemory * memory;
}

}  // namespace

std::optional<std::string> gpu_preset_of(std::string_view device) {
  const std::vector<std::string> said = words_of(device);
  std::vector<std::string> fitting;
  for (const std::string& preset : preset_names(PresetKind::gpu)) {
    if (preset == device) return preset;
    const std::vector<std::string> name = words_of(preset);
    const bool is_named =
        std::ranges::all_of(name, [&](const auto& word) { return is_of_build(word) || has(said, word); });
    if (!is_named) continue;
    const GpuSpec gpu = load_gpu(preset);
    if (std::ranges::all_of(said, [&](const auto& word) { return is_true_of(gpu, name, word); }))
      fitting.push_back(preset);
  }
  return fitting.size() == 1 ? std::optional(fitting.front()) : std::nullopt;
}

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

}}  // namespace c3::configs
