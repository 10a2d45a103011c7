#pragma once
/// What every shape must satisfy, whatever its class.

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "gpu/kernel.hpp"

namespace c3 { inline namespace gpu {

/// \throws InfeasibleError naming kernel and extent when one is < 1.
void check_extents(std::string_view kernel,
                   std::initializer_list<std::pair<std::string_view, std::int64_t>> extents);

/// \throws InfeasibleError when the kernel's tensors are larger than the GPU's memory.
void check_fits(const KernelDescription& kernel, const GpuSpec& gpu);

}}  // namespace c3::gpu
