#include "gpu/kernels/gemm/gemm_choice.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "engine/errors.hpp"
#include "gpu/clock/core_clock.hpp"
#include "gpu/kernels/checks.hpp"
#include "gpu/kernels/gemm/gemm_kernel.hpp"
#include "gpu/kernels/tiling.hpp"

namespace c3 { inline namespace gpu {
namespace {

constexpr double kAlike = 0.002;  // times closer than this are not told apart

int cus_of(const KernelSlice& slice, const GpuSpec& gpu) {
  return slice.cus > 0 ? slice.cus : gpu.compute.cus();
}

/// How much faster than by its plan a product may compute: on fewer CUs the clock may rise.
double most_speed(const GemmShape& shape, const GpuSpec& gpu, const KernelSlice& slice) {
  const double taken = 1.0 - static_cast<double>(cus_of(slice, gpu)) / gpu.compute.cus();
  const Hertz clock = product_rate(gpu, shape.dtype).clock;
  return std::max(1.0, speed_under_power_limit(gpu, clock, BytesPerSecond{}, taken));
}

/// No kernel of \p plan takes less on \p slice, launch apart: the arithmetic of the fullest CU's work groups,
/// or its loads from memory.
Seconds least_time(const GemmPlan& plan, const GpuSpec& gpu, const KernelSlice& slice, const PlanTimes& times) {
  const int xcds = gpu.compute.xcds;
  const std::int64_t on_xcd = ceil_div(cus_of(slice, gpu), xcds);
  const auto in_turn = static_cast<double>(ceil_div(ceil_div(plan.work_groups, xcds), on_xcd));
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
                      const PlanTimes& given) {
  struct Candidate {
    const GemmPlan* plan;
    Seconds least;
    std::optional<Seconds> time;
  };
  PlanTimes times = given;
  times.faster *= most_speed(shape, gpu, slice);
  const std::vector<GemmPlan> plans = plans_of(shape, gpu);
  std::vector<Candidate> candidates;
  candidates.reserve(plans.size());
  for (const GemmPlan& plan : plans)
    candidates.push_back({&plan, least_time(plan, gpu, slice, times), {}});
  std::ranges::stable_sort(candidates, {}, &Candidate::least);
  std::optional<Seconds> shortest;
  std::optional<InfeasibleError> does_not_fit;
  for (Candidate& its : candidates) {
    if (shortest && its.least > *shortest * (1.0 + kAlike)) break;
    try {
      its.time = times.time_of(*its.plan);
      shortest = std::min(*its.time, shortest.value_or(*its.time));
    } catch (const InfeasibleError& error) {  // its work groups do not fit into a CU
      does_not_fit = error;
    }
  }
  if (!shortest) throw InfeasibleError(*does_not_fit);
  std::erase_if(candidates,
                [&](const Candidate& its) { return !its.time || *its.time > *shortest * (1.0 + kAlike); });
  const auto rank = [](const Candidate& its) { return std::pair(its.plan->work_groups, *its.time); };
  return *std::ranges::min_element(candidates, {}, rank)->plan;
}

KernelDescription describe_gemm(std::string name, const GemmShape& shape, const GpuSpec& gpu) {
  KernelDescription kernel = describe_product(std::move(name), shape, gpu);
  check_fits(kernel, gpu);
  return kernel;
}

KernelDescription describe_product(std::string name, const GemmShape& shape, const GpuSpec& gpu) {
  check_extents(name, {{"m", shape.m}, {"n", shape.n}, {"k", shape.k}, {"b", shape.batch}});
  return describe_product(std::move(name), shape, gpu, plan_gemm(shape, gpu));
}

}}  // namespace c3::gpu
