#include "gpu/kernels/pool/pool_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "engine/errors.hpp"
#include "gpu/kernels/checks.hpp"
#include "gpu/kernels/pool/pool_instructions.hpp"
#include "gpu/kernels/vector/vector_instructions.hpp"
#include "gpu/kernels/vector/vector_traffic.hpp"

namespace c3::inline gpu {
namespace {

// PyTorch's launches, at the commits of pool_instructions.hpp: a max pool's backward kernel lets 8 blocks of
// 256 share an SM, which leaves 32 registers a thread; assumed of the others.
constexpr double kMaxBlock = 256;
constexpr double kAverageBlock = 1024;
constexpr double kWave = 32;           // threads
constexpr double kRegisters = 32 * 4;  // bytes of a thread
constexpr double kOverlap = 8.0;       // as of other kernels that stream

double as_double(std::int64_t count) { return static_cast<double>(count); }

/// How threads are cut into work groups.
struct Grid {
  double work_groups;
  /// Of a work group, in waves that do something: of a max pool's backward pass the mean over a channel's.
  double threads;
};

Grid grid_of(const PoolShape& shape, double block) {
  const PoolElements elements = elements_of(shape);
  if (shape.op == PoolOp::max && shape.pass == Pass::backward) {
    const double pixels = as_double(shape.image.h) * as_double(shape.image.w);
    const double of_channel = std::ceil(pixels / block);
    return {.work_groups = of_channel * as_double(shape.batch) * as_double(shape.channels),
            .threads = std::ceil(pixels / kWave) * kWave / of_channel};
  }
  const double threads = shape.pass == Pass::forward ? elements.output : elements.input;
  return {.work_groups = std::ceil(threads / block),
          .threads = std::min(block, std::ceil(threads / kWave) * kWave)};
}

/// Bytes that the threads of a work group ask for at once: an element of each one's window. Rows come whole, so
/// that each thread has what lies between its window and its neighbour's.
Bytes outstanding_of(const PoolShape& shape, double threads) {
  if (shape.pass == Pass::forward) return element_size(shape.dtype) * (threads * as_double(shape.stride.w));
  const Bytes each = shape.op == PoolOp::max ? pool_index(shape.op) : element_size(shape.dtype);
  return each * (threads / as_double(shape.stride.w));
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
  const double block = shape.op == PoolOp::max ? kMaxBlock : kAverageBlock;
  const Grid grid = grid_of(shape, block);
  const PoolElements elements = elements_of(shape);
  const PoolBytes bytes = bytes_of(shape);
  const double threads = shape.pass == Pass::forward ? elements.output : elements.input;
  const double of_thread = instructions_of(shape, gpu.kernels.vector) / threads;
  KernelDescription kernel;
  kernel.name = std::move(name);
  kernel.work_groups = static_cast<std::int64_t>(grid.work_groups);
  kernel.needs = {.lds = {}, .registers = Bytes{block * kRegisters}, .waves = static_cast<int>(block / kWave)};
  kernel.compute_time = Seconds{grid.threads * of_thread / instructions_per_second(gpu)};
  kernel.overlap = kOverlap;
  kernel.clock = gpu.compute.boost_clock;
  kernel.outstanding = outstanding_of(shape, grid.threads);
  kernel.output = bytes.written / grid.work_groups;
  kernel.flops = Flops{elements.taps / grid.work_groups};
  kernel.useful_flops = Flops{elements.taps};
  kernel.peak = matrix_rate(gpu, DType::fp32).peak;
  kernel.compulsory = bytes.read + bytes.written;
  kernel.traffic =
      std::make_shared<VectorTraffic>(VectorTraffic::Loads{.once = bytes.read / grid.work_groups,
                                                           .tensors = bytes.read + bytes.written,
                                                           .sharpness = gpu.kernels.vector.miss_sharpness});
  if (shape.op == PoolOp::max && shape.pass == Pass::backward)
    kernel.before.push_back(clear_of(bytes.written, gpu));
  check_fits(kernel, gpu);
  return kernel;
}

}  // namespace c3::gpu
