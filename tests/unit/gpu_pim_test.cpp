// Operators on units inside the memory: their bytes, their time, and what they take from others.

#include "gpu/pim.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <utility>
#include <vector>

#include "engine/errors.hpp"
#include "gpu/hbm_rate.hpp"
#include "gpu/kernel_launch.hpp"
#include "tests/support/gpu_bench.hpp"
#include "tests/support/near.hpp"

namespace c3::gpu_pim_test {

using namespace literals;
using namespace test;

namespace {

GpuSpec with_units(double units, double interval = 1.0, double slots = 1.0) {
  GpuSpec gpu = round_gpu();
  gpu.hbm.read = 4.0_TBps;
  gpu.hbm.write = 5.0_TBps;
  gpu.hbm.copy = 3.0_TBps;
  gpu.hbm.pim = {.units = units, .interval = interval, .slots = slots};
  return gpu;
}

const VectorShape kCast{.chain = VectorOp::quantize_mx9, .rows = 4096, .cols = 4096, .dtype = DType::fp32};

Task timed(Gpu& gpu, TimedKernel kernel, int stream, double* end) {
  KernelLaunch launch;
  launch.stream = stream;
  co_await run_timed_kernel(gpu, "k", kernel, launch);
  *end = gpu.simulation().now().value;
}

/// When each of \p kernels ends, on a stream each and begun together.
std::vector<double> ends(const GpuSpec& gpu, const std::vector<TimedKernel>& kernels) {
  GpuBench bench(gpu);
  std::vector<double> ends(kernels.size(), 0.0);
  for (std::size_t i = 0; i < kernels.size(); ++i)
    bench.simulation.spawn("k", timed(bench.gpu, kernels[i], static_cast<int>(i), &ends[i]));
  bench.run();
  return ends;
}

double bits_of_number(VectorOp op) {
  const VectorShape shape{.chain = op, .rows = 64, .cols = 1024, .dtype = DType::fp32};
  return 32.0 * tensors_of(shape).writes;
}

}  // namespace

TEST_CASE("with an amplification of one, memory computes in the time in which HBM moves the same bytes") {
  const GpuSpec gpu = with_units(1.0);
  const TimedKernel inside = in_memory(kCast, gpu.hbm);
  TimedKernel outside = inside;
  outside.place = Place::gpu;
  // 16.8 M numbers: 4 bytes read and 9/8 written each, a mix whose turnarounds cost time.
  CHECK(inside.read.value == 4.0 * 4096 * 4096);
  CHECK(inside.written.value == 1.125 * 4096 * 4096);
  const double alone = ends(gpu, {inside}).front();
  CHECK(alone == near(ends(gpu, {outside}).front(), 1e-9));
  CHECK(alone > (inside.read / gpu.hbm.read + inside.written / gpu.hbm.write).value);
}

TEST_CASE("units in memory are as many times as fast as their amplification and slots say") {
  const double once = ends(with_units(1.0), {in_memory(kCast, with_units(1.0).hbm)}).front();
  for (const auto& [gpu, faster] :
       {std::pair{with_units(8.0, 2.0), 4.0}, std::pair{with_units(8.0, 2.0, 0.5), 2.0},
        std::pair{with_units(1.0, 2.0), 0.5}}) {
    CAPTURE(faster);
    const TimedKernel kernel = in_memory(kCast, gpu.hbm);
    CHECK(kernel.duration.value == near(once / faster, 1e-9));
    CHECK(ends(gpu, {kernel}).front() == near(once / faster, 1e-9));
  }
}

TEST_CASE("two operators share the units, whichever streams they are on") {
  const GpuSpec gpu = with_units(4.0, 1.0, 0.5);
  const TimedKernel kernel = in_memory(kCast, gpu.hbm);
  const std::vector<double> both = ends(gpu, {kernel, kernel});
  CHECK(both[0] == near(2.0 * kernel.duration.value, 1e-9));
  CHECK(both[1] == near(2.0 * kernel.duration.value, 1e-9));
}

TEST_CASE("others find the slots of HBM that the units may not take, however many bytes these want") {
  // Reads alone, so that capacity does not depend on the mix: 1 TB/s for whoever has all slots.
  for (const double slots : {0.25, 0.5}) {
    CAPTURE(slots);
    GpuSpec gpu = round_gpu();
    gpu.hbm.pim = {.units = 4.0, .slots = slots};
    FluidSystem fluid;
    const Memory memory(fluid, gpu, 0, {"a", "b"}, {});
    std::vector<Demand> inside, outside;
    memory.add_inside(inside, 0, 4.0_GB, 0.0_B);
    memory.add_hbm_read(outside, 1, 1.0_GB);
    FlowSpec units, reader;
    units.demands = inside;
    units.weight = 1e6;  // as if they asked for a million times as much
    reader.demands = outside;
    const FlowId a = fluid.start(units, nullptr);
    const FlowId b = fluid.start(reader, nullptr);
    fluid.next_date();
    CHECK(fluid.rate(b) * 1e9 == near((1.0 - slots) * 1e12));
    CHECK(fluid.rate(a) * 4e9 == near(4.0 * slots * 1e12));
  }
}

TEST_CASE("writes inside the memory turn its channels round for the reads of others") {
  // A reader of 1 TB/s beside units that write as fast as they can: the capacity is that of the mix.
  const GpuSpec gpu = with_units(1.0);
  FluidSystem fluid;
  const Memory memory(fluid, gpu, 0, {"a", "b"}, {});
  std::vector<Demand> inside, outside;
  memory.add_inside(inside, 0, 0.0_B, 1.0_GB);
  memory.add_hbm_read(outside, 1, 1.0_GB);
  FlowSpec units, reader;
  units.demands = inside;
  reader.demands = outside;
  reader.bound = 1e3;
  const FlowId a = fluid.start(units, nullptr);
  fluid.start(reader, nullptr);
  fluid.next_date();
  const double written = fluid.rate(a) * 1e9;
  CHECK(1e12 + written == near(hbm_capacity(gpu.hbm, written / (1e12 + written)).value, 2e-3));
}

TEST_CASE("what units in memory read and write enters no cache and leaves no byte at HBM's interface") {
  GpuSpec gpu = round_gpu();
  gpu.hbm.pim = {.units = 4.0};
  FluidSystem fluid;
  const Memory memory(fluid, gpu, 0, {"a", "b"}, {});
  std::vector<Demand> demands;
  memory.add_inside(demands, 0, 3.0_GB, 1.0_GB);
  FlowSpec flow;
  flow.demands = demands;
  fluid.start(flow, nullptr);
  fluid.next_date();
  CHECK(memory.cache_state(1, 1, 1.0_us).llc_intruder.value == 0.0);
  // HBM's slots, and as much of them counted as moving nothing.
  CHECK(demands[0].amount == near(1e9));
  CHECK(demands[1].amount == demands[0].amount);
  const FlowSolver& rates = fluid.rates();
  CHECK(rates.load(demands[0].resource) - rates.load(demands[1].resource) == 0.0);
  CHECK(rates.load(demands[0].resource) == near(1e12));
}

TEST_CASE("MX9 has 9 bits a number and MX6 has 6, and both in both directions have 30") {
  CHECK(bits_of_number(VectorOp::quantize_mx9) == 9.0);
  CHECK(bits_of_number(VectorOp::quantize_mx6) == 6.0);
  CHECK(bits_of_number(VectorOp::quantize_mx9_both) + bits_of_number(VectorOp::quantize_mx6_both) == 30.0);
}

TEST_CASE("memory without units computes nothing, and units refuse what goes along rows or through tables") {
  CHECK_THROWS_AS(in_memory(kCast, round_gpu().hbm), InfeasibleError);
  for (const VectorOp op :
       {VectorOp::softmax, VectorOp::layernorm, VectorOp::rmsnorm_quantize, VectorOp::embedding}) {
    CAPTURE(name_of(op));
    CHECK_FALSE(runs_in_memory(op));
    VectorShape shape = kCast;
    shape.chain = op;
    CHECK_THROWS_AS(in_memory(shape, with_units(4.0).hbm), std::invalid_argument);
  }
  for (const VectorOp op :
       {VectorOp::add, VectorOp::gelu, VectorOp::reduce, VectorOp::quantize_mx, VectorOp::adam})
    CHECK(runs_in_memory(op));
}

}  // namespace c3::gpu_pim_test
