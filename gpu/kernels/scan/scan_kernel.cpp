#include "gpu/kernels/scan/scan_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "engine/errors.hpp"
#include "gpu/clock/governor.hpp"
#include "gpu/kernels/checks.hpp"
#include "gpu/kernels/scan/scan_work.hpp"
#include "gpu/kernels/vector/vector_instructions.hpp"
#include "gpu/kernels/vector/vector_traffic.hpp"

namespace c3 { inline namespace gpu {
namespace {

constexpr double kOverlap = 3.0;  // of arithmetic and HBM, as attention's; assumed
// Lane instructions of an element that is loaded or stored: its part of a vector load, a conversion, a scale
// and a mask; assumed.
constexpr double kElementInstructions = 4;
// Triton's work group of these kernels: 4 warps (chunk_delta_h.py), which hold accumulators and operands of
// 64 x 128 numbers in registers: 168 a lane is assumed, as of other kernels on matrix units
// (held_registers.hpp), so that an SM of Hopper has room for three.
constexpr int kWaves = 4;
constexpr Bytes kRegisters{kWaves * 32 * 168 * 4.0};
constexpr double kIndexLoads = 2;  // one after the other: which sequence, and where it begins

void check(const std::string& name, const ScanShape& shape) {
  check_extents(name, {{"b", shape.batch},
                       {"seq", shape.length},
                       {"heads", shape.heads},
                       {"kv_heads", shape.key_heads},
                       {"head_dim", shape.key_dim},
                       {"value_dim", shape.value_dim},
                       {"chunk", shape.chunk}});
  if (shape.heads % shape.key_heads != 0)
    throw InfeasibleError(
        fmt::format("'{}': kv_heads {} must divide heads {}", name, shape.key_heads, shape.heads));
  if (std::ranges::find(scan_stages(shape.rule, shape.pass), shape.stage) ==
      scan_stages(shape.rule, shape.pass).end())
    throw InfeasibleError(fmt::format("'{}': {} has no kernel '{}' {}", name, c3::name_of(shape.rule),
                                      c3::name_of(shape.stage), c3::name_of(shape.pass)));
}

/// Of a work group with a CU's arithmetic to itself.
Seconds compute_time(const ScanCounts& counts, const MatrixRate& rate, const GpuSpec& gpu) {
  const auto work_groups = static_cast<double>(counts.work_groups);
  const FlopsPerSecond products = rate.peak * (gpu.kernels.scan.matrix_share / gpu.compute.cus());
  const double exponentials = kExponentialsPerClock * gpu.compute.boost_clock.value;
  const double issued = kElementInstructions * counts.elements / instructions_per_second(gpu);
  return (counts.flops / products + Seconds{counts.exponentials / exponentials + issued}) / work_groups;
}

/// Of a work group alone on the GPU: loads, products and rows that wait for one another.
Seconds least_time(const ScanCounts& counts, const ScanWork& work, Seconds computing, const GpuSpec& gpu) {
  const bool in_turn = work.chain > 0;
  const double waits = in_turn ? static_cast<double>(counts.steps) * work.chain + counts.carried_loads : 1.0;
  const double rows = static_cast<double>(counts.rows) * gpu.kernels.scan.row_cycles;
  return gpu.hbm.latency * (kIndexLoads + waits) + Seconds{rows / gpu.compute.boost_clock.value} + computing;
}

}  // namespace

KernelDescription describe_scan(std::string name, const ScanShape& shape, const GpuSpec& gpu) {
  check(name, shape);
  const MatrixRate& rate = matrix_rate(gpu, shape.dtype);
  const ScanWork& work = work_of(shape.rule, shape.stage);
  const ScanCounts counts = counts_of(shape);
  const auto work_groups = static_cast<double>(counts.work_groups);
  KernelDescription kernel;
  kernel.name = std::move(name);
  kernel.work_groups = counts.work_groups;
  kernel.needs = {.lds = {}, .registers = kRegisters, .waves = kWaves};
  kernel.compute_time = compute_time(counts, rate, gpu);
  kernel.least_time = least_time(counts, work, kernel.compute_time, gpu);
  kernel.clock = gpu.compute.boost_clock;  // a fifth of the peak draws little
  kernel.overlap = kOverlap;
  kernel.flops = (counts.flops + Flops{counts.vector_flops}) / work_groups;
  kernel.useful_flops = counts.flops + Flops{counts.vector_flops};
  kernel.peak = rate.peak;
  kernel.flop_energy = flop_energy(shape.dtype);
  kernel.outstanding = counts.read / (work_groups * static_cast<double>(counts.steps));
  kernel.output = counts.written / work_groups;
  kernel.compulsory = counts.read + counts.written;
  kernel.measured_launch = kGraphLaunch;
  kernel.traffic = std::make_shared<VectorTraffic>(
      VectorTraffic::Loads{.once = counts.read / work_groups,
                           .again = counts.read_again / work_groups,
                           .tensors = counts.read + counts.written,
                           .l2_kept = 1.0,  // with no row_cache: what is loaded again is in L2
                           .sharpness = gpu.kernels.vector.miss_sharpness});
  if (counts.cleared.value > 0.0)
    kernel.before.push_back({.name = "clear matrices",
                             .read = {},
                             .written = counts.cleared,
                             .time = counts.cleared / gpu.hbm.write});
  check_fits(kernel, gpu);
  return kernel;
}

}}  // namespace c3::gpu
