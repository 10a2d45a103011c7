#pragma once
/// Finds the GPU preset that a machine's driver describes.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace c3 { inline namespace configs {

/// The GPU preset that \p device names, as a preset's slug, a table of measurements or a driver writes it: the
/// words of the preset's name, of which bus and memory may be left out, beside words that the preset bears out
/// ("SXM5", "80GB", "HBM3") or that tell nothing apart ("NVIDIA", "Instinct"). Absent when none or several fit:
/// "NVIDIA H100". \throws ConfigError for a preset that cannot be read
std::optional<std::string> gpu_preset_of(std::string_view device);

/// The GPU preset with \p units SMs or CUs and about \p memory_bytes of HBM of a family that is a part of
/// \p device, the name by the driver: "NVIDIA A100-SXM4-80GB" is a100-sxm-80gb, "AMD Instinct MI300X VF"
/// mi300x. A driver that leaves the name open ("AMD Radeon Graphics", "") has only the numbers. Absent when
/// none or several presets fit: a driver reports a few percent less memory than is sold, so 8 % less or more
/// fits. \throws ConfigError for a preset that cannot be read
std::optional<std::string> gpu_preset_like(std::string_view device, std::int64_t units,
                                           std::int64_t memory_bytes);

}}  // namespace c3::configs
