#pragma once
/// From an operator to what the concurrency model and the closed form need to know of its kernel.

#include <string>

#include "gpu/kernel.hpp"
#include "gpu/kernel_time.hpp"
#include "gpu/kernels/operator.hpp"

namespace c3::inline gpu {

/// The kernel that runs \p op on \p gpu. \throws InfeasibleError when the GPU lacks the data type, a size is
/// out of range, or a kernel of this kind cannot be built (see each class).
KernelDescription describe(std::string name, const Operator& op, const GpuSpec& gpu);

/// Time of \p op alone on \p slice of \p gpu: of all its kernels, where it takes several. \throws
/// InfeasibleError
KernelTime time_of(const Operator& op, const GpuSpec& gpu, const KernelSlice& slice = {});

}  // namespace c3::gpu
