#include "gpu/kernels/gemm/gemm_choice.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <queue>
#include <tuple>
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

/// A part of a GPU, as work groups are dealt over it.
struct Places {
  std::int64_t xcds, cus_of_xcd;

  Places(const GpuSpec& gpu, const KernelSlice& slice)
      : xcds(gpu.compute.xcds), cus_of_xcd(ceil_div(cus_of(slice, gpu), gpu.compute.xcds)) {}
  /// How many of \p work_groups the fullest CU computes, one after another.
  double in_turn(std::int64_t work_groups) const {
    return static_cast<double>(ceil_div(ceil_div(work_groups, xcds), cus_of_xcd));
  }
};

/// What no kernel takes less than, launch apart: the arithmetic of the fullest CU's work groups, or its loads
/// from memory. \param arithmetic, least, reduction as GemmPlan's
Seconds least_time(double in_turn, Seconds arithmetic, Seconds least, Seconds reduction,
                   const PlanTimes& times) {
  return std::max(std::max(in_turn * arithmetic, least) / times.faster, times.memory) + reduction;
}

/// An offer whose kernel was not timed.
struct Waiting {
  Seconds least;  ///< by least_time
  std::size_t offer;

  bool operator>(const Waiting& other) const { return least > other.least; }
};
using WaitingOffers = std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>>;

WaitingOffers by_least_time(const GemmPlanner& planner, const std::vector<GemmOffer>& offers,
                            const Places& places, const PlanTimes& times) {
  std::vector<Waiting> waiting;
  waiting.reserve(offers.size());
  for (const GemmOffer& offer : offers)
    waiting.push_back({least_time(places.in_turn(offer.work_groups), planner.least_arithmetic(offer),
                                  offer.stepping, offer.reduction, times),
                       waiting.size()});
  return WaitingOffers(std::greater<>{}, std::move(waiting));
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
  struct Timed {
    GemmPlan plan;
    Seconds time, least;
    std::size_t offer;
  };
  PlanTimes times = given;
  times.faster *= most_speed(shape, gpu, slice);
  const Places places(gpu, slice);
  const GemmPlanner planner(shape, gpu);
  const std::vector<GemmOffer> offers = planner.offers();
  // Few are timed: those are passed over whose arithmetic alone takes longer than the fastest so far.
  WaitingOffers waiting = by_least_time(planner, offers, places, times);
  std::vector<Timed> timed;
  std::optional<Seconds> shortest;
  std::optional<InfeasibleError> does_not_fit;
  const auto is_slower = [&](Seconds time) { return shortest && time > *shortest * (1.0 + kAlike); };
  for (; !waiting.empty() && !is_slower(waiting.top().least); waiting.pop()) {
    const std::size_t number = waiting.top().offer;
    const GemmPlan plan = planner.plan_of(offers[number]);
    const Seconds least =
        least_time(places.in_turn(plan.work_groups), plan.arithmetic, plan.least, plan.reduction, times);
    if (is_slower(least)) continue;
    try {
      timed.push_back({plan, times.time_of(plan), least, number});
      shortest = std::min(timed.back().time, shortest.value_or(timed.back().time));
    } catch (const InfeasibleError& error) {  // its work groups do not fit into a CU
      does_not_fit = error;
    }
  }
  if (!shortest) throw InfeasibleError(*does_not_fit);
  std::erase_if(timed, [&](const Timed& its) { return is_slower(its.time); });
  const auto rank = [](const Timed& its) {
    return std::tuple(its.plan.work_groups, its.time, its.least, its.offer);
  };
  return std::ranges::min_element(timed, {}, rank)->plan;
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
