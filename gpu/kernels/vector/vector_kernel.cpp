#include "gpu/kernels/vector/vector_kernel.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "gpu/kernels/checks.hpp"
#include "gpu/kernels/vector/vector_instructions.hpp"
#include "gpu/kernels/vector/vector_traffic.hpp"

namespace c3 { inline namespace gpu {
namespace {

constexpr double kThreads = 128;                    // of most work groups
constexpr double kBytesPerThread = 16;              // one vector load
constexpr std::int64_t kLongestInRegisters = 1024;  // columns of a row softmax, as PyTorch chooses
constexpr std::int64_t kLongestOfWave = 2048;       // columns of a row norm, as TransformerEngine chooses
constexpr double kWave = 32;                        // threads
constexpr double kRegistersPerThread = 32 * 4;      // bytes
// How sharply the slower of arithmetic and memory decides: streams hide everything, row kernels have phases,
// and an optimizer loads, computes and stores by turns. The last is known of PyTorch's fused AdamW, whose times
// on H100 and H200 are nearly the sum of both (studies/one_gpu), and assumed of SGD and of other libraries.
constexpr double kStreamOverlap = 8.0;
constexpr double kRowOverlap = 4.0;
constexpr double kByTurns = 1.0;

double ceil_ratio(double a, double b) { return std::ceil(a / b); }

/// What a kernel does with its elements, before it is cut into work groups.
struct Work {
  double elements = 0;
  double element = 4;  ///< bytes
  double reads = 0;    ///< tensors of `elements`
  double writes = 0;
  double instructions = 0;  ///< of an element
  double flops = 0;         ///< likewise
};

Work work_of(const VectorShape& shape, const VectorCoefficients& coefficients, double passes = 1.0) {
  const TensorCounts tensors = tensors_of(shape);
  Work work;
  work.elements = static_cast<double>(shape.rows) * static_cast<double>(shape.cols);
  work.element = element_size(shape.dtype).value;
  work.reads = tensors.reads;
  work.writes = tensors.writes;
  work.instructions = instructions_of(shape, coefficients, passes);
  for (const VectorOp op : shape.chain)
    work.flops += traits(op).flops;
  return work;
}

/// Time in which one CU issues the instructions of \p elements.
Seconds issue_time(const Work& work, double elements, const GpuSpec& gpu) {
  return Seconds{elements * work.instructions / instructions_per_second(gpu)};
}

WorkGroupNeeds threads(double count) {
  return {.lds = {}, .registers = Bytes{count * kRegistersPerThread}, .waves = static_cast<int>(count / kWave)};
}

/// Completes \p kernel: what is the same for all of these operators.
void finish(KernelDescription& kernel, const Work& work, const VectorTraffic::Loads& loads,
            const GpuSpec& gpu) {
  const auto work_groups = static_cast<double>(kernel.work_groups);
  kernel.clock = gpu.compute.boost_clock;
  kernel.output = Bytes{work.writes * work.elements * work.element / work_groups};
  kernel.outstanding = Bytes{kThreads * kBytesPerThread};
  kernel.flops = Flops{work.flops * work.elements / work_groups};
  kernel.peak = matrix_rate(gpu, DType::fp32).peak;
  kernel.useful_flops = Flops{work.elements};
  kernel.compulsory = loads.tensors;
  kernel.traffic = std::make_shared<VectorTraffic>(loads);
}

VectorTraffic::Loads loads_of(const Work& work, const VectorShape& shape, std::int64_t work_groups,
                              const GpuSpec& gpu) {
  const double tensor = work.elements * work.element;
  return {.once = Bytes{work.reads * tensor / static_cast<double>(work_groups)},
          .again = {},
          .tensors = Bytes{(work.reads + work.writes) * tensor},
          .row_cache = {},
          .l1 = {},
          .l2_kept = gpu.kernels.vector.l2_kept,
          .work_groups_per_cu = 1,
          .l2_partitions = gpu.cache.l2_partitions,
          .sharpness = gpu.kernels.vector.miss_sharpness,
          .cold = shape.warm == WarmOperands::none};
}

void describe_stream(KernelDescription& kernel, const VectorShape& shape, const GpuSpec& gpu) {
  const Work work = work_of(shape, gpu.kernels.vector);
  const double in_work_group = kThreads * kBytesPerThread / work.element;
  kernel.work_groups = static_cast<std::int64_t>(ceil_ratio(work.elements, in_work_group));
  kernel.needs = threads(kThreads);
  kernel.compute_time = issue_time(work, in_work_group, gpu);
  kernel.overlap = is_optimizer(shape.chain.first()) ? kByTurns : kStreamOverlap;
  finish(kernel, work, loads_of(work, shape, kernel.work_groups, gpu), gpu);
}

/// The maximum of a whole tensor: a grid that stays, and joins its parts by atomics, however small the tensor.
/// Threads load one number at a time, so that an SM's instructions limit it wherever the tensor lies.
void as_maximum(KernelDescription& kernel, const VectorShape& shape, const GpuSpec& gpu) {
  constexpr double kResidentThreads = 2048;  // of a CU
  const std::int64_t resident = std::min<std::int64_t>(kernel.work_groups, gpu.compute.cus());
  const double share = static_cast<double>(kernel.work_groups) / static_cast<double>(resident);
  kernel.compute_time = kernel.compute_time * share;
  kernel.traffic = scaled(std::move(kernel.traffic), share);
  kernel.outstanding = element_size(shape.dtype) * kResidentThreads;
  kernel.work_groups = resident;
  kernel.output = kernel.output * share;
  kernel.flops = kernel.flops * share;
  const Seconds least{gpu.kernels.vector.absmax_us * 1e-6};
  kernel.least_time = std::max(Seconds{}, least - kGraphLaunch - gpu.hbm.latency);
  kernel.overlap = kRowOverlap;
}

/// A wave a row, or two rows of at most 128 columns, all in registers; columns padded to a power of 2.
void describe_short_softmax(KernelDescription& kernel, const VectorShape& shape, const GpuSpec& gpu) {
  const Work work = work_of(shape, gpu.kernels.vector);
  const auto padded = static_cast<double>(std::bit_ceil(static_cast<std::uint64_t>(shape.cols)));
  const double rows = kThreads / kWave * (padded <= 128 ? 2 : 1) * std::max(1.0, kWave / padded);
  kernel.work_groups = static_cast<std::int64_t>(ceil_ratio(static_cast<double>(shape.rows), rows));
  kernel.needs = threads(kThreads);
  kernel.compute_time = Seconds{rows * padded * gpu.kernels.vector.row_ops / instructions_per_second(gpu)};
  finish(kernel, work, loads_of(work, shape, kernel.work_groups, gpu), gpu);
}

/// A work group a row, \p passes over it in all.
Work describe_rows(KernelDescription& kernel, const VectorShape& shape, const GpuSpec& gpu, double block,
                   double passes) {
  const Work work = work_of(shape, gpu.kernels.vector, passes);
  kernel.work_groups = shape.rows;
  kernel.needs = threads(block);
  VectorTraffic::Loads loads = loads_of(work, shape, kernel.work_groups, gpu);
  loads.again = loads.once * (passes - 1.0);
  loads.row_cache = Bytes{work.element * static_cast<double>(shape.cols)};
  const double l1_kept = gpu.family.l1_keeps_loads ? gpu.kernels.vector.l1_kept : 0.0;
  loads.l1 = gpu.compute.lds_per_cu * l1_kept;
  loads.work_groups_per_cu = work_groups_per_cu(gpu.compute, kernel.needs, kernel.name);
  finish(kernel, work, loads, gpu);
  return work;
}

/// Maximum, sum and result: three passes, each a loop of vector loads with a rest of single ones.
void describe_long_softmax(KernelDescription& kernel, const VectorShape& shape, const GpuSpec& gpu) {
  const auto cols = static_cast<double>(shape.cols);
  const double block = shape.cols <= 2048 ? 256 : 512;
  const double in_vector = kBytesPerThread / element_size(shape.dtype).value;
  constexpr double kPasses = 3;
  const Work work = describe_rows(kernel, shape, gpu, block, kPasses);
  kernel.compute_time = issue_time(work, cols, gpu);
  const double vectors = std::floor(cols / (in_vector * block));
  const double singles =
      ceil_ratio(cols - vectors * in_vector * block, block) + (std::fmod(cols, in_vector) != 0.0 ? 1.0 : 0.0);
  const VectorCoefficients& coefficients = gpu.kernels.vector;
  kernel.least_time =
      Seconds{(kPasses * (vectors + singles) * coefficients.iteration_us + coefficients.block_us) * 1e-6};
}

/// A wave a row, all of it in registers: one pass, and sums over the lanes of the wave by shuffles. Source: the
/// kernels that TransformerEngine registers (normalization/rmsnorm/rmsnorm_fwd_cuda_kernel.cu, layernorm alike,
/// backward too), 4 waves of a row each up to 2,048 columns, loads of 4 numbers a lane up to 128 columns and of
/// 16 B beyond; torch.compile and Liger's Triton kernels pack short rows likewise.
/// Wrong when: Triton gives a row of 257 to 2,048 columns more waves than one.
void describe_short_norm(KernelDescription& kernel, const VectorShape& shape, const GpuSpec& gpu) {
  constexpr double kRows = kThreads / kWave;
  constexpr std::int64_t kShortest = 128;  // columns of its smallest kernel
  constexpr double kOfSum = 10;            // instructions of a lane: five shuffles, each with an addition
  constexpr double kOfRow = 20;            // likewise: its root, and the sums' use; assumed
  const Work work = work_of(shape, gpu.kernels.vector);
  const auto cols = static_cast<double>(shape.cols);
  const double in_load = kWave * (shape.cols <= kShortest ? 4.0 : kBytesPerThread / work.element);
  const double padded = ceil_ratio(cols, in_load) * in_load;
  const VectorOp op = shape.chain.first();
  const double sums = op == VectorOp::layernorm || op == VectorOp::layernorm_quantize ? 2 : 1;
  const double of_row = padded * work.instructions + kWave * (sums * kOfSum + kOfRow);
  kernel.work_groups = static_cast<std::int64_t>(ceil_ratio(static_cast<double>(shape.rows), kRows));
  kernel.needs = threads(kThreads);
  const double held = shape.pass == Pass::forward ? 1.0 : 2.0;  // tensors, in fp32
  kernel.needs.registers += element_size(DType::fp32) * (kRows * padded * held);
  kernel.compute_time = Seconds{kRows * of_row / instructions_per_second(gpu)};
  finish(kernel, work, loads_of(work, shape, kernel.work_groups, gpu), gpu);
  kernel.outstanding = Bytes{kRows * cols * work.element};
}

/// A work group a row, which it goes through twice: of rows too long for a wave, and PyTorch's kernel of all
/// (layer_norm_kernel.cu).
void describe_long_norm(KernelDescription& kernel, const VectorShape& shape, const GpuSpec& gpu) {
  constexpr double kPasses = 2;
  const Work work = describe_rows(kernel, shape, gpu, kThreads, kPasses);
  const double in_iteration = kThreads * kBytesPerThread / element_size(shape.dtype).value;
  const double iterations = ceil_ratio(static_cast<double>(shape.cols), in_iteration);
  const Seconds row{gpu.kernels.vector.row_cycles / gpu.compute.boost_clock.value};
  kernel.compute_time = row + issue_time(work, iterations * in_iteration, gpu);
}

}  // namespace

KernelDescription describe_vector(std::string name, const VectorShape& shape, const GpuSpec& gpu) {
  check_extents(name, {{"rows", shape.rows}, {"cols", shape.cols}});
  KernelDescription kernel;
  kernel.name = std::move(name);
  const VectorOp first = shape.chain.first();
  if (traits(first).row_passes < 2) {
    describe_stream(kernel, shape, gpu);
    if (first == VectorOp::absmax) as_maximum(kernel, shape, gpu);
    if (first >= VectorOp::absmax && first <= VectorOp::quantize_nv_both) kernel.measured_launch = kGraphLaunch;
  } else if (first == VectorOp::softmax) {
    shape.cols <= kLongestInRegisters ? describe_short_softmax(kernel, shape, gpu)
                                      : describe_long_softmax(kernel, shape, gpu);
    kernel.call = CallKind::softmax;
    kernel.overlap = kRowOverlap;
  } else {
    const bool in_registers = shape.cols <= kLongestOfWave && !shape.is_eager;
    in_registers ? describe_short_norm(kernel, shape, gpu) : describe_long_norm(kernel, shape, gpu);
    kernel.call = CallKind::norm;
    kernel.overlap = kRowOverlap;
  }
  check_fits(kernel, gpu);
  return kernel;
}

}}  // namespace c3::gpu
