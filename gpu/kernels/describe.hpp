#pragma once
/// From an operator to what the concurrency model and the closed form need to know of its kernel.

#include <string>

#include "gpu/kernel.hpp"
#include "gpu/kernel_time.hpp"
#include "gpu/kernels/operator.hpp"

namespace c3 { inline namespace gpu {

/// The kernel that runs \p op on \p gpu, at boost clock where the power of \p gpu is known: time_of() and
/// the governor of a run apply the power limit. \throws InfeasibleError when the GPU lacks the data
/// type, a size is out of range, or a kernel of this kind cannot be built (see each class).
KernelDescription describe(std::string name, const Operator& op, const GpuSpec& gpu);

/// The same by the kernel that takes least time on \p slice of \p gpu: tile and split of K of a product, the
/// solver of a convolution and what it chooses. Other classes have one kernel. \throws InfeasibleError
KernelDescription describe_tuned(std::string name, const Operator& op, const GpuSpec& gpu,
                                 const KernelSlice& slice);

/// Mean power of a stream of \p kernel at the boost clock. Wrong when: power_at_boost is; vector units compute.
Watts power_of_stream(const KernelDescription& kernel, const GpuSpec& gpu);

/// Makes \p kernel's arithmetic take \p slower times as long, and its clock as much lower: HBM and launch stay.
void slow_down(KernelDescription& kernel, double slower);

/// Time of \p op alone on \p slice of \p gpu: of all its kernels, where it takes several, in the GPU's state
/// (GovernorSpec::state): sustained, a product slows down as far as a stream of it exceeds the power limit.
/// \throws InfeasibleError
KernelTime time_of(const Operator& op, const GpuSpec& gpu, const KernelSlice& slice = {});

}}  // namespace c3::gpu
