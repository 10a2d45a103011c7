#include "gpu/kernels/convolution/plan_parts.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "gpu/kernels/gemm/gemm_choice.hpp"
#include "gpu/kernels/gemm/gemm_kernel.hpp"

namespace c3 { inline namespace gpu {
namespace {

// Of a work group of 512 threads of a vector kernel that keeps its accumulators in registers: one to a CU.
constexpr int kWaves = 8;

// How sharply the slower of arithmetic and HBM decides: as for products on vector units (gemm_kernel.cpp).
constexpr double kOverlap = 4.0;

}  // namespace

double vector_multiplications(const ConvolutionShape& shape, const GpuSpec& gpu, bool packed) {
  const double lanes = matrix_rate(gpu, DType::fp32).peak.value / (2.0 * gpu.compute.cus());
  return lanes * (packed && shape.dtype != DType::fp32 ? 2.0 : 1.0);
}

void set_totals(KernelDescription& kernel, const ConvolutionShape& shape) {
  kernel.compulsory = element_size(shape.dtype) * tensors_of(shape).all();
  kernel.measured_launch = {};  // a convolution's call is none of a BLAS library
}

void write_once(KernelDescription& kernel, const ConvolutionShape& shape) {
  const auto work_groups = static_cast<double>(kernel.work_groups);
  kernel.output = element_size(shape.dtype) * (written_elements(shape) / work_groups);
}

KernelDescription vector_kernel(const ConvolutionShape& shape, const VectorWork& work, const GpuSpec& gpu) {
  const ConvolutionTensors tensors = tensors_of(shape);
  KernelDescription kernel;
  kernel.work_groups = static_cast<std::int64_t>(work.work_groups);
  kernel.needs = {.lds = gpu.compute.lds_per_cu,
                  .registers = 0.5 * gpu.compute.registers_per_cu,
                  .waves = std::min(kWaves, gpu.compute.wave_slots_per_cu)};
  kernel.flops = Flops{2.0 * work.multiplications_each};
  kernel.compute_time = Seconds{work.multiplications_each / work.rate};
  kernel.clock = gpu.compute.boost_clock;
  kernel.overlap = kOverlap;
  kernel.hbm_share = gpu.kernels.convolution.image_share;
  const Bytes read = element_size(shape.dtype) * (tensors.all() - written_elements(shape));
  const Bytes once = read / work.work_groups;
  kernel.outstanding = std::min(work.requested_each, gpu.compute.lds_per_cu);
  kernel.traffic = std::make_shared<FixedTraffic>(std::max(once, work.requested_each), once);
  // No vector unit is faster than its peak, however few multiplications an algorithm needs.
  kernel.peak = matrix_rate(gpu, DType::fp32).peak * (shape.dtype == DType::fp32 ? 1.0 : 2.0);
  kernel.useful_flops = kernel.flops * work.work_groups;
  set_totals(kernel, shape);
  write_once(kernel, shape);
  return kernel;
}

std::vector<KernelPhase> rearranging(std::vector<KernelPhase> phases, const GpuSpec& gpu) {
  for (KernelPhase& phase : phases) {
    phase.hbm_share = gpu.kernels.convolution.image_share;
    phase.time = (phase.read + phase.written) / (gpu.hbm.copy * phase.hbm_share);
  }
  phases.front().time += gpu.hbm.latency;
  return phases;
}

KernelPhase phase_of(std::string name, std::vector<TouchedTensor> touches) {
  KernelPhase phase{.name = std::move(name), .read = {}, .written = {}, .time = {}};
  for (const TouchedTensor& tensor : touches)
    (tensor.is_written ? phase.written : phase.read) += tensor.bytes;
  phase.touches = std::move(touches);
  return phase;
}

KernelPhase clearing(TouchedTensor tensor, const GpuSpec& gpu) {
  KernelPhase phase = phase_of("clear " + tensor.name, {std::move(tensor)});
  phase.time = phase.written / gpu.hbm.write;
  return phase;
}

void add_kernels(ConvolutionPlan& plan, int more, Seconds time, const GpuSpec& gpu) {
  plan.kernels += more;
  plan.kernel.overhead += time + gpu.dispatch.launch_latency * static_cast<double>(plan.kernels - 1) +
                          Seconds{gpu.kernels.convolution.kernel_us * 1e-6 * plan.kernels};
}

Seconds on_device(const KernelDescription& kernel, const PlanTarget& target) {
  const KernelTime alone = time_alone(kernel, target.gpu, target.slice);
  return alone.time - alone.launch;
}

KernelDescription library_product(const GemmShape& gemm, const PlanTarget& target) {
  if (target.is_whole()) return describe_product("convolution", gemm, target.gpu);
  return describe_product("convolution", gemm, target.gpu, fastest_plan(gemm, target.gpu, target.slice));
}

void FastestPlan::take(ConvolutionPlan plan) {
  const Seconds time = on_device(plan.kernel, target_);
  if (best_ && time >= shortest_) return;
  shortest_ = time;
  best_ = std::move(plan);
}

ConvolutionPlan FastestPlan::best() && {
  if (!best_) throw std::logic_error("FastestPlan: no plan");
  return *std::move(best_);
}

KernelDescription repeated(KernelDescription one, std::int64_t times, const GpuSpec& gpu) {
  if (times == 1) return one;
  const auto count = static_cast<double>(times);
  const Seconds apart = count * on_device(one, gpu);
  KernelDescription all = std::move(one);
  all.work_groups *= times;
  all.persistent = {};
  all.useful_flops = count * all.useful_flops;
  all.compulsory = count * all.compulsory;
  all.overhead = count * all.overhead;
  const Seconds together = on_device(all, gpu);
  all.overhead += apart - std::min(apart, together);
  return all;
}

}}  // namespace c3::gpu
