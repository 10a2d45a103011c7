#include "gpu/kernels/gemm/tuned_gemm.hpp"

#include <algorithm>

#include "gpu/kernels/gemm/gemm_kernel.hpp"

namespace c3::inline gpu {
namespace {

constexpr double kStepsInFlight = 2.0;  // of k, as for the traffic of tiles (gemm_kernel.cpp)

}  // namespace

KernelSlice part_of_gpu(const GpuSpec& gpu, int parts) {
  KernelSlice slice{.launch = LaunchCost::device};
  if (parts == 1) return slice;
  slice.cus = std::max(1, gpu.compute.cus_per_xcd / parts) * gpu.compute.xcds;
  slice.cache = 1.0 / parts;
  return slice;
}

GemmPlan plan_tuned_for(const GemmShape& shape, const GpuSpec& gpu, const KernelSlice& slice) {
  GemmPlan best;
  Seconds shortest;
  for (const GemmPlan& plan : plans_of(shape, gpu)) {
    const Seconds time = time_alone(describe_product("gemm", shape, gpu, plan), gpu, slice).time;
    const bool is_first = shortest.value <= 0.0;
    if (!is_first && (time > shortest || (time == shortest && plan.work_groups >= best.work_groups))) continue;
    shortest = time;
    best = plan;
  }
  return best;
}

KernelFootprint footprint_of(const KernelDescription& kernel, const GpuSpec& gpu) {
  const int on_cu = work_groups_per_cu(gpu.compute, kernel.needs, kernel.name);
  const bool has_llc = gpu.cache.llc_size.value > 0.0;
  const Bytes cache = has_llc ? gpu.cache.llc_size : gpu.cache.l2_size * static_cast<double>(gpu.compute.xcds);
  CacheState state;
  state.resident = std::min<std::int64_t>(kernel.work_groups, std::int64_t{on_cu} * gpu.compute.cus());
  state.xcds = gpu.compute.xcds;
  state.l2_size = gpu.cache.l2_size;
  state.llc_size = cache;
  const Traffic loads = kernel.traffic->per_work_group(state);
  const double in_flight =
      std::min(1.0, kStepsInFlight * kernel.prologue) * static_cast<double>(state.resident);
  return {.work_groups = kernel.work_groups,
          .on_cu = on_cu,
          .waves = time_alone(kernel, gpu).waves,
          .cache = std::min(cache, loads.llc * in_flight)};
}

}  // namespace c3::gpu
