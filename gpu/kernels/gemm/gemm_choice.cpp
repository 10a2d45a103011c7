#include "gpu/kernels/gemm/gemm_choice.hpp"

#include <algorithm>
#include <vector>

#include "gpu/kernels/gemm/gemm_kernel.hpp"
#include "gpu/kernels/tiling.hpp"

namespace c3::inline gpu {
namespace {

constexpr double kStepsInFlight = 2.0;  // of k, as for the traffic of tiles (gemm_kernel.cpp)

/// No kernel of \p plan takes less on \p slice, launch apart: the arithmetic of the fullest CU's work groups,
/// or its loads from memory.
Seconds least_time(const GemmPlan& plan, const GpuSpec& gpu, const KernelSlice& slice, const PlanTimes& times) {
  const int xcds = gpu.compute.xcds;
  const int cus = slice.cus > 0 ? slice.cus : gpu.compute.cus();
  const auto in_turn = static_cast<double>(ceil_div(ceil_div(plan.work_groups, xcds), ceil_div(cus, xcds)));
  return std::max(std::max(in_turn * plan.arithmetic, plan.least) / times.faster, times.memory) +
         plan.reduction;
}

/// What \p shape loads that is in no cache, once.
Seconds cold_loads(const GemmShape& shape, const GpuSpec& gpu, const KernelSlice& slice) {
  const OperandSizes element = operand_sizes(shape);
  const auto batch_k = static_cast<double>(shape.batch) * static_cast<double>(shape.k);
  Bytes cold;
  if (shape.warm == WarmOperands::none) cold += element.a * (batch_k * static_cast<double>(shape.m));
  if (shape.warm != WarmOperands::all) cold += element.b * (batch_k * static_cast<double>(shape.n));
  return cold / (gpu.hbm.read * (slice.hbm * coefficients_for(shape, gpu).hbm_share));
}

}  // namespace

KernelSlice part_of_gpu(const GpuSpec& gpu, int parts) {
  KernelSlice slice{.launch = LaunchCost::device};
  if (parts == 1) return slice;
  slice.cus = std::max(1, gpu.compute.cus_per_xcd / parts) * gpu.compute.xcds;
  slice.cache = 1.0 / parts;
  return slice;
}

GemmPlan plan_gemm(const GemmShape& shape, const GpuSpec& gpu) {
  if (gpu.library_choice != nullptr)
    if (const auto kernel = gpu.library_choice->kernel_for(shape, gpu)) return plan_by(shape, gpu, *kernel);
  return fastest_plan(shape, gpu);
}

GemmPlan fastest_plan(const GemmShape& shape, const GpuSpec& gpu, const KernelSlice& slice) {
  const auto time_of = [&](const GemmPlan& plan) {
    const KernelTime alone = time_alone(describe_product("gemm", shape, gpu, plan), gpu, slice);
    return alone.time - alone.launch;
  };
  return fastest_plan(shape, gpu, slice, {.time_of = time_of, .memory = cold_loads(shape, gpu, slice)});
}

GemmPlan fastest_plan(const GemmShape& shape, const GpuSpec& gpu, const KernelSlice& slice,
                      const PlanTimes& times) {
  struct Candidate {
    const GemmPlan* plan;
    Seconds least;
  };
  const std::vector<GemmPlan> plans = plans_of(shape, gpu);
  std::vector<Candidate> candidates;
  candidates.reserve(plans.size());
  for (const GemmPlan& plan : plans)
    candidates.push_back({&plan, least_time(plan, gpu, slice, times)});
  std::ranges::stable_sort(candidates, {}, &Candidate::least);
  const GemmPlan* best = nullptr;
  Seconds shortest;
  for (const Candidate& candidate : candidates) {
    if (best != nullptr && candidate.least > shortest) break;
    const Seconds time = times.time_of(*candidate.plan);
    const bool is_shorter = best == nullptr || time < shortest;
    if (!is_shorter && (time > shortest || candidate.plan->work_groups >= best->work_groups)) continue;
    shortest = time;
    best = candidate.plan;
  }
  return *best;
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
