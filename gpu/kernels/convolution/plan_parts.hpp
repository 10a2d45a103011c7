#pragma once
/// What the solvers' plans have in common.

#include "gpu/kernels/convolution/solver.hpp"

namespace c3::inline gpu {

/// Loads of a work group: all that it asks of L2, and what HBM serves of it.
class FixedTraffic final : public TrafficModel {
 public:
  FixedTraffic(Bytes l2, Bytes hbm) : traffic_{.l2 = l2, .llc = hbm, .hbm = hbm} {}
  Traffic per_work_group(const CacheState&) const override { return traffic_; }

 private:
  Traffic traffic_;
};

/// Multiply-adds of one CU's vector units in a second. 16-bit operands go two to a lane where \p packed
/// (v_dot2, v_pk_fma).
double vector_multiplications(const ConvolutionShape& shape, const GpuSpec& gpu, bool packed);

/// A kernel of vector units whose work groups each make \p multiplications_each.
struct VectorWork {
  double work_groups;
  double multiplications_each;
  double rate;           ///< multiply-adds a second of a CU
  Bytes requested_each;  ///< of L2
};
KernelDescription vector_kernel(const ConvolutionShape& shape, const VectorWork& work, const GpuSpec& gpu);

/// Sets what follows from the shape alone: bytes that must move.
void set_totals(KernelDescription& kernel, const ConvolutionShape& shape);

/// Makes \p kernel's work groups store the pass's result once; otherwise they store what their product does.
void write_once(KernelDescription& kernel, const ConvolutionShape& shape);

/// Time of a kernel of \p gpu that moves \p bytes of images through HBM and computes next to nothing: im2col,
/// transposes, transforms.
Seconds rearranging(Bytes bytes, const GpuSpec& gpu);

/// Completes \p plan with \p more kernels that run before or after its own and take \p time together, launches
/// apart, and with what starting and draining each kernel costs.
void add_kernels(ConvolutionPlan& plan, int more, Seconds time, const GpuSpec& gpu);

/// \p one kernel \p times over, one after another, as one description: its work groups are those of all, and
/// `overhead` has what the seams between them cost.
KernelDescription repeated(KernelDescription one, std::int64_t times, const GpuSpec& gpu);

/// From launch to the last store less one launch.
Seconds on_device(const KernelDescription& kernel, const GpuSpec& gpu);

}  // namespace c3::gpu
