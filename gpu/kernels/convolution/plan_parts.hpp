#pragma once
/// What the solvers' plans have in common.

#include <optional>

#include "gpu/kernels/convolution/solver.hpp"
#include "gpu/kernels/convolution/touched_images.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"

namespace c3 { inline namespace gpu {

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

/// Kernels of \p gpu that move images through HBM and compute next to nothing: im2col, transposes, transforms.
/// They move what they touch at the rate of copies of images; the first waits for memory's latency.
std::vector<KernelPhase> rearranging(std::vector<KernelPhase> phases, const GpuSpec& gpu);

/// A phase that reads and writes \p touches whole, its time not yet known.
KernelPhase phase_of(std::string name, std::vector<TouchedTensor> touches);

/// Clears a tensor.
KernelPhase clearing(TouchedTensor tensor, const GpuSpec& gpu);

/// Completes \p plan with what starting and draining its kernel and \p more others cost, and with \p time that
/// those take beside its phases, launches apart.
void add_kernels(ConvolutionPlan& plan, int more, Seconds time, const GpuSpec& gpu);

/// \p one kernel \p times over, one after another, as one description: its work groups are those of all, and
/// `overhead` has what the seams between them cost.
KernelDescription repeated(KernelDescription one, std::int64_t times, const GpuSpec& gpu);

/// From launch to the last store less one launch.
Seconds on_device(const KernelDescription& kernel, const PlanTarget& target);

/// \p gemm by the library's kernel; for a part of a GPU by the one that is fastest there.
KernelDescription library_product(const GemmShape& gemm, const PlanTarget& target);

/// Of plans one after another the one that takes least time on a target; the first of those that take as long.
class FastestPlan {
 public:
  explicit FastestPlan(const PlanTarget& target) : target_(target) {}

  void take(ConvolutionPlan plan);
  /// \throws std::logic_error when it has taken none
  ConvolutionPlan best() &&;

 private:
  PlanTarget target_;
  std::optional<ConvolutionPlan> best_;
  Seconds shortest_;
};

}}  // namespace c3::gpu
