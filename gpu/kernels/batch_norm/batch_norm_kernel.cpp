#include "gpu/kernels/batch_norm/batch_norm_kernel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>

#include "gpu/kernels/checks.hpp"
#include "gpu/kernels/vector/vector_instructions.hpp"
#include "gpu/kernels/vector/vector_traffic.hpp"

namespace c3 { inline namespace gpu {
namespace {

constexpr double kBlock = 512;     // threads
constexpr double kWave = 32;       // threads
constexpr double kStaying = 2;     // work groups of a CU that stay
constexpr double kOverlap = 4.0;   // as of other kernels with phases
constexpr double kLoadPasses = 2;  // statistics, then the result
constexpr double kInTurn = 2;      // the input, then the gradient

/// How a kernel goes through a channel.
enum class Way : std::uint8_t {
  twice,   ///< and loads it again
  kept,    ///< in registers and shared memory
  staying  ///< NHWC: work groups that have a share of all channels
};

/// One of cuDNN's kernels.
struct NormKernel {
  Pass pass;
  Way way;
  double narrow;     ///< instructions of an element of 16 bits: the mean of the shapes that were counted
  double wide;       ///< the same of fp32; of NHWC forward 25 to 56
  double registers;  ///< of a thread, 4 bytes each
  double unhidden;   ///< loads of an element that wait for HBM one after another
};

constexpr std::array kNormKernels = {
    NormKernel{Pass::forward, Way::twice, 80.6, 76.4, 56, 0},
    NormKernel{Pass::forward, Way::kept, 28.7, 51.2, 64, 0},
    NormKernel{Pass::forward, Way::staying, 31.8, 36.5, 64, 0},
    NormKernel{Pass::backward, Way::twice, 54.3, 49.4, 32, kInTurn},
    NormKernel{Pass::backward, Way::kept, 38.2, 64.2, 64, 0},
    NormKernel{Pass::backward, Way::staying, 39.6, 36.3, 64, 0},
};

double tensors_read(Pass pass) { return pass == Pass::forward ? 1.0 : 2.0; }

Bytes tensor_of(const BatchNormShape& shape) { return element_size(shape.dtype) * elements_of(shape); }

Way way_of(const BatchNormShape& shape, const GpuSpec& gpu) {
  if (shape.layout == ImageLayout::nhwc) return Way::staying;
  const Bytes of_channel = tensor_of(shape) * (tensors_read(shape.pass) / static_cast<double>(shape.channels));
  return of_channel * 2.0 <= gpu.compute.lds_per_cu ? Way::kept : Way::twice;
}

const NormKernel& kernel_of(Pass pass, Way way) {
  return *std::ranges::find_if(kNormKernels,
                               [&](const NormKernel& each) { return each.pass == pass && each.way == way; });
}

double work_groups_of(const BatchNormShape& shape, const GpuSpec& gpu) {
  if (shape.layout == ImageLayout::nchw) return static_cast<double>(shape.channels);
  return std::min(kStaying * gpu.compute.cus(), std::ceil(elements_of(shape) / kBlock));
}

/// Bytes that the registers and the shared memory of a CU hold.
Bytes held_by(const GpuSpec& gpu) { return gpu.compute.registers_per_cu + gpu.compute.lds_per_cu; }

/// Work groups that stay load what their CUs hold of \p read before they compute, and the rest beside it: what
/// is held takes the sum of both, the rest their norm. The exponent that says so where both are equal: 1 where
/// all is held (within 8 % of the times of four such kernels on an H200 in the mean, where the norm is 38 % too
/// short), kOverlap where nothing is.
double overlap_of(Way way, Bytes read, const GpuSpec& gpu) {
  if (way != Way::staying) return kOverlap;
  const double held = std::min(1.0, held_by(gpu) * gpu.compute.cus() / read);
  return std::log(2.0) / std::log(2.0 * held + (1.0 - held) * std::pow(2.0, 1.0 / kOverlap));
}

VectorTraffic::Loads loads_of(const BatchNormShape& shape, Way way, double work_groups, const GpuSpec& gpu) {
  const Bytes read = tensor_of(shape) * tensors_read(shape.pass);
  VectorTraffic::Loads loads{.once = read / work_groups,
                             .tensors = read + tensor_of(shape),
                             .l2_kept = gpu.kernels.vector.l2_kept,
                             .l2_partitions = gpu.cache.l2_partitions,
                             .sharpness = gpu.kernels.vector.miss_sharpness};
  if (way == Way::kept) return loads;
  loads.again = loads.once * (kLoadPasses - 1);
  loads.row_cache = loads.once;
  if (way == Way::staying) {
    loads.l1 = held_by(gpu);
    loads.work_groups_per_cu = static_cast<int>(kStaying);
  }
  return loads;
}

/// What the threads of a work group need, however few there are beside them.
Seconds least_of(const NormKernel& kernel, double instructions, double elements, const GpuSpec& gpu) {
  const VectorCoefficients& coefficients = gpu.kernels.vector;
  const double cycles =
      std::max(instructions * coefficients.wave_interval, kernel.unhidden * coefficients.first_load_cycles);
  return Seconds{std::ceil(elements / kBlock) * cycles / gpu.compute.boost_clock.value +
                 coefficients.block_us * 1e-6};
}

}  // namespace

KernelDescription describe_batch_norm(std::string name, const BatchNormShape& shape, const GpuSpec& gpu) {
  check_extents(
      name,
      {{"b", shape.batch}, {"channels", shape.channels}, {"height", shape.image.h}, {"width", shape.image.w}});
  const Way way = way_of(shape, gpu);
  const NormKernel& of = kernel_of(shape.pass, way);
  const double instructions = shape.dtype == DType::fp32 ? of.wide : of.narrow;
  const double work_groups = work_groups_of(shape, gpu);
  const double elements = elements_of(shape) / work_groups;
  const VectorTraffic::Loads loads = loads_of(shape, way, work_groups, gpu);
  KernelDescription kernel;
  kernel.name = std::move(name);
  kernel.work_groups = static_cast<std::int64_t>(work_groups);
  kernel.needs = {
      .lds = {}, .registers = Bytes{kBlock * of.registers * 4}, .waves = static_cast<int>(kBlock / kWave)};
  kernel.compute_time = Seconds{elements * instructions / instructions_per_second(gpu)};
  kernel.least_time = least_of(of, instructions, elements, gpu);
  kernel.overlap = overlap_of(way, tensor_of(shape) * tensors_read(shape.pass), gpu);
  kernel.clock = gpu.compute.boost_clock;
  kernel.outstanding = element_size(shape.dtype) * (kBlock * tensors_read(shape.pass));
  kernel.output = tensor_of(shape) / work_groups;
  kernel.flops = Flops{elements};
  kernel.useful_flops = Flops{elements_of(shape)};
  kernel.peak = matrix_rate(gpu, DType::fp32).peak;
  kernel.compulsory = loads.tensors;
  kernel.call = CallKind::norm;
  kernel.traffic = std::make_shared<VectorTraffic>(loads);
  check_fits(kernel, gpu);
  return kernel;
}

}}  // namespace c3::gpu
