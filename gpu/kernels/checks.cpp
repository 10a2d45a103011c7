#include "gpu/kernels/checks.hpp"

#include <fmt/format.h>

#include "engine/errors.hpp"

namespace c3 { inline namespace gpu {

void check_extents(std::string_view kernel,
                   std::initializer_list<std::pair<std::string_view, std::int64_t>> extents) {
  for (const auto& [name, extent] : extents) {
    if (extent < 1)
      throw InfeasibleError(fmt::format("'{}': {} must be at least 1, not {}", kernel, name, extent));
  }
}

void check_fits(const KernelDescription& kernel, const GpuSpec& gpu) {
  if (kernel.compulsory <= gpu.hbm.size) return;
  throw InfeasibleError(fmt::format("'{}': its tensors take {:.4g} GB, and gpu '{}' has {:.4g} GB", kernel.name,
                                    kernel.compulsory.value / 1e9, gpu.name, gpu.hbm.size.value / 1e9));
}

}}  // namespace c3::gpu
