#include "studies/goldyloc/concurrency.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "gpu/gpu.hpp"
#include "gpu/kernel_run.hpp"
#include "gpu/kernels/gemm/gemm_choice.hpp"
#include "gpu/kernels/gemm/gemm_kernel.hpp"
#include "studies/checked_row.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 40U;
constexpr std::array kDegrees = {1, 2, 4, 8, 16};
constexpr std::array kParts = {1, 2, 4};

/// One stream's kernels, the numbers \p first, \p first + \p stride, .. below \p count.
Task run_stream(Gpu& gpu, KernelDescription kernel, int first, int stride, int count) {
  for (int number = first; number < count; number += stride) {
    KernelLaunch launch;
    launch.stream = first;
    launch.order = first;
    launch.range = {0, gpu.spec().compute.cus_per_xcd};
    launch.draw = static_cast<std::uint64_t>(number);
    const DispatchSpec& dispatch = gpu.spec().dispatch;
    launch.delay = number == first ? dispatch.launch_latency : dispatch.dependent_gap;
    KernelDescription next = kernel;
    co_await run_kernel(gpu, std::move(next), launch);
  }
}

}  // namespace

std::vector<ReadyProducts> read_products(const std::filesystem::path& file) {
  const HeadedTable table(file);
  std::vector<ReadyProducts> products;
  for (const HeadedTable::Row& table_row : table.rows()) {
    const CheckedRow row(table, table_row, "for products that are ready together");
    products.push_back({.set = row.text("set"),
                        .name = row.text("name"),
                        .shape = {.m = row.whole("m", kLargest),
                                  .n = row.whole("n", kLargest),
                                  .k = row.whole("k", kLargest),
                                  .dtype = DType::fp16},
                        .parallel = static_cast<int>(row.whole("parallel", kDegrees.back()))});
  }
  return products;
}

std::vector<int> degrees_for(int parallel) {
  std::vector<int> degrees;
  for (const int degree : kDegrees)
    if (degree < parallel) degrees.push_back(degree);
  degrees.push_back(parallel);
  return degrees;
}

Seconds time_at_once(const KernelDescription& kernel, int count, int degree, const GpuSpec& gpu) {
  GpuSetup setup;
  std::vector<std::string> names;
  for (int stream = 0; stream < degree; ++stream)
    names.push_back("stream " + std::to_string(stream));
  setup.streams = names;
  Simulation simulation(nullptr);
  Gpu simulated(simulation, gpu, setup, 0);
  for (int stream = 0; stream < degree; ++stream)
    simulation.spawn(names[static_cast<std::size_t>(stream)],
                     run_stream(simulated, kernel, stream, degree, count));
  simulation.run_without_simgrid();
  return simulation.now();
}

KernelSlice part_of_gpu(const GpuSpec& gpu, int parts) {
  KernelSlice slice{.launch = LaunchCost::device};
  if (parts == 1) return slice;
  slice.cus = std::max(1, gpu.compute.cus_per_xcd / parts) * gpu.compute.xcds;
  slice.cache = 1.0 / parts;
  return slice;
}

TunedKernels tuned_kernels(const GemmShape& shape, const GpuSpec& gpu) {
  TunedKernels kernels;
  for (const int parts : kParts) {
    const GemmPlan plan = fastest_plan(shape, gpu, part_of_gpu(gpu, parts));
    kernels.emplace(parts, describe_product("gemm", shape, gpu, plan));
  }
  return kernels;
}

DegreeTimes times_by_degree(const ReadyProducts& products, const TunedKernels& kernels, const GpuSpec& gpu) {
  DegreeTimes times;
  for (const int degree : degrees_for(products.parallel)) {
    for (const auto& [part, kernel] : kernels) {
      const Seconds time = time_at_once(kernel, products.parallel, degree, gpu);
      if (part == 1) times.alone[degree] = time;
      const auto best = times.tuned.try_emplace(degree, time).first;
      best->second = std::min(best->second, time);
    }
  }
  return times;
}

}}  // namespace c3::studies
