#include "gpu/kernels/pool/pool_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "engine/errors.hpp"
#include "gpu/kernels/checks.hpp"
#include "gpu/kernels/pool/pool_instructions.hpp"
#include "gpu/kernels/pool/pool_launch.hpp"
#include "gpu/kernels/vector/vector_instructions.hpp"
#include "gpu/kernels/vector/vector_traffic.hpp"

namespace c3 { inline namespace gpu {
namespace {

constexpr double kWave = 32;      // threads
constexpr double kOverlap = 8.0;  // as of other kernels that stream

/// Bytes that the threads of a work group ask for at once: an element of each one's window. Rows of NCHW come
/// whole, so that each thread has what lies between its window and its neighbour's.
Bytes outstanding_of(const PoolShape& shape, double threads) {
  const double apart = shape.layout == ImageLayout::nchw ? static_cast<double>(shape.stride.w) : 1.0;
  if (shape.pass == Pass::forward) return element_size(shape.dtype) * (threads * apart);
  const Bytes each = shape.op == PoolOp::max ? pool_index(shape.op) : element_size(shape.dtype);
  return each * (threads / apart);
}

/// What the waves of a work group need however few there are beside them: each place's instructions wait for
/// one another and for what no other place loaded.
Seconds least_of(const PoolShape& shape, const PoolLaunch& launch, const GpuSpec& gpu) {
  const VectorCoefficients& coefficients = gpu.kernels.vector;
  const double of_place = instructions_of(shape) * coefficients.wave_interval +
                          fresh_elements(shape) * coefficients.first_load_cycles;
  return Seconds{launch.in_turn * of_place / gpu.compute.boost_clock.value};
}

void check(const std::string& name, const PoolShape& shape) {
  check_extents(name, {{"b", shape.batch},
                       {"channels", shape.channels},
                       {"height", shape.image.h},
                       {"width", shape.image.w},
                       {"filter_h", shape.window.h},
                       {"filter_w", shape.window.w},
                       {"stride_h", shape.stride.h},
                       {"stride_w", shape.stride.w}});
  if (const auto broken = broken_windows(shape))
    throw InfeasibleError(fmt::format("'{}': {}: {}", name, name_of(broken->first), broken->second));
}

/// PyTorch sets the gradient to 0 before the kernel that writes all of it.
KernelPhase clear_of(Bytes gradient, const GpuSpec& gpu) {
  return {.name = "clear gradient", .read = {}, .written = gradient, .time = gradient / gpu.hbm.write};
}

}  // namespace

KernelDescription describe_pool(std::string name, const PoolShape& shape, const GpuSpec& gpu) {
  check(name, shape);
  const PoolLaunch launch = launch_of(shape);
  const PoolElements elements = elements_of(shape);
  const PoolBytes bytes = bytes_of(shape);
  KernelDescription kernel;
  kernel.name = std::move(name);
  kernel.work_groups = static_cast<std::int64_t>(launch.work_groups);
  kernel.needs = {.lds = launch.lds,
                  .registers = Bytes{launch.block * launch.registers * 4},
                  .waves = static_cast<int>(std::ceil(launch.block / kWave))};
  kernel.compute_time = Seconds{launch.places * instructions_of(shape) / instructions_per_second(gpu)};
  kernel.least_time = least_of(shape, launch, gpu);
  kernel.overlap = kOverlap;
  kernel.clock = gpu.compute.boost_clock;
  kernel.outstanding = outstanding_of(shape, std::min(launch.places, launch.block));
  kernel.output = bytes.written / launch.work_groups;
  kernel.flops = Flops{elements.taps / launch.work_groups};
  kernel.useful_flops = Flops{elements.taps};
  kernel.peak = matrix_rate(gpu, DType::fp32).peak;
  kernel.compulsory = bytes.read + bytes.written;
  kernel.traffic =
      std::make_shared<VectorTraffic>(VectorTraffic::Loads{.once = bytes.read / launch.work_groups,
                                                           .tensors = bytes.read + bytes.written,
                                                           .sharpness = gpu.kernels.vector.miss_sharpness});
  if (shape.op == PoolOp::max && shape.pass == Pass::backward)
    kernel.before.push_back(clear_of(bytes.written, gpu));
  check_fits(kernel, gpu);
  return kernel;
}

}}  // namespace c3::gpu
