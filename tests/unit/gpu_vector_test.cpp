// Bytes and work groups of kernels without a matrix product, by hand.

#include "gpu/hbm_rate.hpp"
#include "gpu/kernel_time.hpp"
#include "gpu/kernels/operator_table.hpp"
#include "gpu/kernels/vector/vector_instructions.hpp"
#include "gpu/kernels/vector/vector_kernel.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>

#include "engine/errors.hpp"
#include "tests/support/gpu_bench.hpp"
#include "tests/support/gpu_families.hpp"
#include "tests/support/near.hpp"

namespace c3::gpu_vector_test {

using namespace literals;
using namespace test;

namespace {

constexpr double kElements = 1000.0 * 3000;

/// 8 CUs of 128 lanes at 1 GHz.
GpuSpec vector_gpu() {
  GpuSpec gpu = round_gpu();
  gpu.compute.matrix.push_back(
      {DType::fp32, FlopsPerSecond{2.0 * 8 * 128e9}, FlopsPerSecond{2.0 * 8 * 128e9}, 1000.0_MHz});
  return gpu;
}

KernelDescription described(const VectorShape& shape, const GpuSpec& gpu = vector_gpu()) {
  return describe_vector("v", shape, gpu);
}

/// 1000 x 3000 elements.
VectorShape shape_of(VectorChain chain, DType dtype = DType::fp32, Pass pass = Pass::forward) {
  return {.chain = chain, .rows = 1000, .cols = 3000, .dtype = dtype, .pass = pass};
}

/// Bytes for each element of 1000 x 3000.
struct PerElement {
  double read, written;
};

/// What HBM sees with caches of \p cache bytes each.
PerElement hbm_bytes(const VectorShape& shape, Bytes cache) {
  const KernelDescription kernel = described(shape);
  CacheState state;
  state.resident = 32;
  state.xcds = 2;
  state.l2_size = state.llc_size = cache;
  const Traffic traffic = kernel.traffic->per_work_group(state);
  const auto work_groups = static_cast<double>(kernel.work_groups);
  return {(traffic.hbm * work_groups).value / kElements,
          (kernel.output * (work_groups * traffic.stores_to_hbm)).value / kElements};
}

void check_bytes(VectorOp op, PerElement forward, PerElement backward) {
  CAPTURE(name_of(op));
  for (const auto& [pass, expected] :
       {std::pair(Pass::forward, forward), std::pair(Pass::backward, backward)}) {
    CAPTURE(name_of(pass));
    const VectorShape shape = shape_of(op, DType::fp32, pass);
    const PerElement found = hbm_bytes(shape, Bytes{1.0});
    CHECK(found.read == near(4 * expected.read));
    CHECK(found.written == near(4 * expected.written));
    CHECK(described(shape).compulsory.value == near(4 * (expected.read + expected.written) * kElements));
    CHECK(described(shape).useful_flops.value == kElements);
  }
}

VectorChain chain_of(std::initializer_list<VectorOp> ops) {
  VectorChain chain = *ops.begin();
  for (const VectorOp* op = ops.begin() + 1; op != ops.end(); ++op)
    chain.append(*op);
  return chain;
}

}  // namespace

TEST_CASE("a bias is added to a tensor, and its gradient reads one and writes next to nothing") {
  for (const VectorOp op : {VectorOp::add_bias, VectorOp::add_bias_nchw}) {
    const auto tensors = [&](Pass pass) {
      return tensors_of({.chain = op, .rows = 1000, .cols = 3000, .pass = pass});
    };
    CHECK(tensors(Pass::forward).reads == 1);
    CHECK(tensors(Pass::forward).writes == 1);
    CHECK(tensors(Pass::backward).reads == 1);
    CHECK(tensors(Pass::backward).writes == 0);
  }
}

TEST_CASE("elementwise operators read their inputs and write their outputs, gradients backward") {
  // A sum hands its gradient on to both inputs; a product needs both factors again.
  check_bytes(VectorOp::add, {2, 1}, {1, 2});
  check_bytes(VectorOp::mul, {2, 1}, {3, 2});
  check_bytes(VectorOp::pow, {2, 1}, {4, 2});
  check_bytes(VectorOp::add_scalar, {1, 1}, {1, 1});
  check_bytes(VectorOp::pow_scalar, {1, 1}, {2, 1});
  check_bytes(VectorOp::relu, {1, 1}, {2, 1});
  check_bytes(VectorOp::gelu, {1, 1}, {2, 1});
  check_bytes(VectorOp::copy, {1, 1}, {1, 1});
  check_bytes(VectorOp::concatenate, {1, 1}, {1, 1});
}

TEST_CASE("a reduction reads a row for each number that it writes, backward the other way round") {
  check_bytes(VectorOp::reduce, {1, 1.0 / 3000}, {1.0 / 3000, 1});
}

TEST_CASE("a looked-up row is read and written, and backward added to its gradient") {
  check_bytes(VectorOp::embedding, {1, 1}, {2, 1});
}

TEST_CASE("half the bytes of an element are half the bytes") {
  const PerElement found = hbm_bytes(shape_of(VectorOp::add, DType::bf16), Bytes{1.0});
  CHECK(found.read == near(2 * 2));
  CHECK(found.written == near(2 * 1));
}

TEST_CASE("a fused chain keeps what its operators hand on in registers") {
  const auto bytes = [](std::initializer_list<VectorOp> ops, Pass pass = Pass::forward) {
    return hbm_bytes(shape_of(chain_of(ops), DType::fp32, pass), Bytes{1.0});
  };
  // x + y, then relu; (x * y) + z, then gelu and a scale.
  CHECK(bytes({VectorOp::add, VectorOp::relu}).read == near(4 * 2));
  CHECK(bytes({VectorOp::add, VectorOp::relu}).written == near(4 * 1));
  const auto four = {VectorOp::mul, VectorOp::add, VectorOp::gelu, VectorOp::mul_scalar};
  CHECK(bytes(four).read == near(4 * 3));
  CHECK(bytes(four).written == near(4 * 1));
  // Backward of (x * y) + z: the gradient, x and y in; the gradients of x, y and z out.
  CHECK(bytes({VectorOp::mul, VectorOp::add}, Pass::backward).read == near(4 * 3));
  CHECK(bytes({VectorOp::mul, VectorOp::add}, Pass::backward).written == near(4 * 3));
  // Backward of relu(x + y): the gradient and what forward saved in, two gradients out.
  CHECK(bytes({VectorOp::add, VectorOp::relu}, Pass::backward).read == near(4 * 2));
  CHECK(bytes({VectorOp::add, VectorOp::relu}, Pass::backward).written == near(4 * 2));
}

TEST_CASE("an optimizer step of Adam moves 28 B a parameter, whatever the parameters' type") {
  // fp32: parameter, gradient, two moments in; parameter and moments out: 16 + 12 B. bf16: a gradient of 2 B
  // and fp32 parameter and moments in; both kinds of parameter and the moments out: 14 + 14 B.
  const PerElement single = hbm_bytes(shape_of(VectorOp::adam), Bytes{1.0});
  CHECK(single.read == near(16));
  CHECK(single.written == near(12));
  const PerElement mixed = hbm_bytes(shape_of(VectorOp::adam, DType::bf16), Bytes{1.0});
  CHECK(mixed.read == near(2 + 12));
  CHECK(mixed.written == near(2 + 12));
  const PerElement sgd = hbm_bytes(shape_of(VectorOp::sgd, DType::bf16), Bytes{1.0});
  CHECK(sgd.read == near(2 + 8));
  CHECK(sgd.written == near(2 + 8));
}

TEST_CASE("tensors that the caches still hold never reach HBM, and without caches all do") {
  for (const VectorOp op : {VectorOp::add, VectorOp::softmax, VectorOp::layernorm, VectorOp::adam}) {
    CAPTURE(name_of(op));
    const PerElement held = hbm_bytes(shape_of(op), Bytes{1e15});
    CHECK(held.read < 1e-9);
    CHECK(held.written < 1e-9);
    const PerElement none = hbm_bytes(shape_of(op), Bytes{0.0});  // once a division by zero
    CHECK(none.written == near(hbm_bytes(shape_of(op), Bytes{1.0}).written));
    CHECK(none.read >= hbm_bytes(shape_of(op), Bytes{1.0}).read);
  }
}

TEST_CASE("tensors that the caches may hold are all read where nothing is said to be there") {
  const KernelDescription kernel = described(shape_of(VectorOp::add));
  CacheState state;
  state.xcds = 2;
  state.l2_size = state.llc_size = Bytes{1e15};
  const auto work_groups = static_cast<double>(kernel.work_groups);
  CHECK((kernel.traffic->per_work_group(state).found * work_groups).value == near(2 * 4 * kElements));
  state.cold = true;
  const Traffic cold = kernel.traffic->per_work_group(state);
  CHECK((cold.hbm * work_groups).value == near(2 * 4 * kElements));
  CHECK(cold.found.value == 0.0);
  CHECK(cold.stores_to_hbm == 1.0);
}

TEST_CASE("a vector operator that is not warm moves all of its bytes, however large the caches") {
  VectorShape shape = shape_of(VectorOp::add);
  shape.warm = WarmOperands::none;
  const PerElement moved = hbm_bytes(shape, Bytes{1e15});
  CHECK(moved.read == near(2.0 * 4));
  CHECK(moved.written == near(4.0));
}

TEST_CASE("tensors as large as the LLC are half in it") {
  // add of 1000 x 3000: 36 MB.
  const PerElement found = hbm_bytes(shape_of(VectorOp::add), Bytes{36e6});
  CHECK(found.read == near(0.5 * 8));
  CHECK(found.written == near(0.5 * 4));
}

TEST_CASE("a softmax of short rows reads them once, of long ones up to three times") {
  const auto softmax = [](std::int64_t cols, Pass pass = Pass::forward) {
    return described({.chain = VectorOp::softmax, .rows = 1000, .cols = cols, .pass = pass});
  };
  const auto read = [](const KernelDescription& kernel, double kept) {
    CacheState state;
    state.resident = 64;
    state.xcds = 2;
    state.l2_size = Bytes{kept};
    state.llc_size = Bytes{1.0};
    return (kernel.traffic->per_work_group(state).hbm * static_cast<double>(kernel.work_groups)).value;
  };
  CHECK(read(softmax(1024), 0) == near(4.0 * 1024 * 1000));
  CHECK(read(softmax(1024, Pass::backward), 0) == near(2 * 4.0 * 1024 * 1000));
  // Rows of 400 kB: 64 of them are 25.6 MB. LDS and L1 keep 0.35 x 64 KiB x 8 CUs = 0.18 MB.
  const KernelDescription rows = softmax(100'000);
  CHECK(read(rows, 0) == near(3 * 4e8, 1e-3));
  CHECK(read(rows, 1e15) == near(1 * 4e8, 1e-9));
  CHECK(softmax(100'000).compulsory.value == near(2 * 4e8));
}

TEST_CASE("rows between passes stay where LDS, L1 and a partition of L2 hold all residents' rows") {
  // Layer norm of 1000 rows of 12 kB, 64 resident, 4 on each CU: 768 kB. L1 keeps 64 KiB x 0.25 on 16 CUs,
  // 0.262 MB; L2 two XCDs x 0.5 x half of 1.0115 MB, 0.506 MB: together as much as is wanted. Half is missed.
  GpuSpec gpu = vector_gpu();
  gpu.compute.wave_slots_per_cu = 16;
  gpu.kernels.vector.l1_kept = 0.25;
  gpu.kernels.vector.l2_kept = 0.5;
  gpu.kernels.vector.miss_sharpness = 3;
  gpu.cache.l2_partitions = 2;
  const KernelDescription kernel = described(shape_of(VectorOp::layernorm), gpu);  // 3,000 columns
  CacheState state;
  state.resident = 64;
  state.xcds = 2;
  state.l2_size = Bytes{(64 * 12e3 - 16 * 0.25 * 65536) * 2};
  state.llc_size = Bytes{1.0};
  CHECK(kernel.traffic->per_work_group(state).hbm.value == near(1.5 * 12e3));
  CHECK(kernel.traffic->per_work_group(state).l2.value == near(2 * 12e3));
  gpu.family = pascal();  // keeps no loads in L1: 768 kB wanted, 506 kB kept
  const double ratio = std::pow(64 * 12e3 / (64 * 12e3 - 16 * 0.25 * 65536), gpu.kernels.vector.miss_sharpness);
  CHECK(described(shape_of(VectorOp::layernorm), gpu).traffic->per_work_group(state).hbm.value ==
        near((1 + ratio / (1 + ratio)) * 12e3));
}

TEST_CASE("streams take a work group for 128 loads of 16 B") {
  const auto work_groups = [](std::int64_t rows, std::int64_t cols, DType dtype) {
    return described({.chain = VectorOp::add, .rows = rows, .cols = cols, .dtype = dtype}).work_groups;
  };
  CHECK(work_groups(1, 512, DType::fp32) == 1);
  CHECK(work_groups(1, 513, DType::fp32) == 2);
  CHECK(work_groups(1000, 3000, DType::fp32) == 5860);  // 5859.4
  CHECK(work_groups(1000, 3000, DType::bf16) == 2930);
  CHECK(work_groups(1, 1, DType::bf16) == 1);
  CHECK(described(shape_of(VectorOp::add)).needs.waves == 4);
}

TEST_CASE("short rows are packed into the four waves of a work group, long ones take one each") {
  const auto work_groups = [](VectorOp op, std::int64_t cols) {
    return described({.chain = op, .rows = 1001, .cols = cols}).work_groups;
  };
  CHECK(work_groups(VectorOp::softmax, 1024) == 251);  // 4
  CHECK(work_groups(VectorOp::softmax, 129) == 251);
  CHECK(work_groups(VectorOp::softmax, 128) == 126);  // 8
  CHECK(work_groups(VectorOp::softmax, 33) == 126);
  CHECK(work_groups(VectorOp::softmax, 8) == 32);  // 32: 8 threads a row
  CHECK(work_groups(VectorOp::softmax, 1) == 4);   // 256
  CHECK(work_groups(VectorOp::softmax, 1025) == 1001);
  CHECK(work_groups(VectorOp::layernorm, 8) == 251);
  CHECK(work_groups(VectorOp::rmsnorm_quantize, 2048) == 251);
  CHECK(work_groups(VectorOp::rmsnorm, 2049) == 1001);
  CHECK(work_groups(VectorOp::rmsnorm, 100'000) == 1001);
  const VectorShape eager{.chain = VectorOp::rmsnorm, .rows = 1001, .cols = 8, .is_eager = true};
  CHECK(described(eager).work_groups == 1001);
}

TEST_CASE("a norm of short rows reads them once and holds them in registers") {
  const auto read = [](std::int64_t cols, Pass pass) {
    const KernelDescription kernel =
        described({.chain = VectorOp::layernorm, .rows = 1000, .cols = cols, .pass = pass});
    CacheState state;
    state.resident = 64;
    state.llc_size = state.l2_size = Bytes{1.0};
    return (kernel.traffic->per_work_group(state).l2 * static_cast<double>(kernel.work_groups)).value;
  };
  CHECK(read(1024, Pass::forward) == near(4.0 * 1024 * 1000));
  CHECK(read(1024, Pass::backward) == near(2 * 4.0 * 1024 * 1000));
  CHECK(read(4096, Pass::forward) == near(2 * 4.0 * 4096 * 1000));
  // Beside the 32 of each of 128 threads, 4 rows of 1,024 numbers of 4 B; of a gradient as well.
  const auto registers = [](Pass pass) {
    return described({.chain = VectorOp::layernorm, .rows = 1000, .cols = 1000, .pass = pass})
        .needs.registers.value;
  };
  CHECK(registers(Pass::forward) == near(128 * 32 * 4 + 4 * 1024 * 4));
  CHECK(registers(Pass::backward) == near(128 * 32 * 4 + 2 * 4 * 1024 * 4));
}

TEST_CASE(
    "a CU issues loads, stores, conversions and arithmetic of a work group's elements one after another") {
  GpuSpec gpu = vector_gpu();
  gpu.family.issue_lanes = 64;
  gpu.kernels.vector.issue_share = 0.5;  // 32 a cycle of 1 ns
  gpu.kernels.vector.access_ops = 2;
  gpu.kernels.vector.convert_ops = 1;
  gpu.kernels.vector.cast_ops = 7;
  gpu.kernels.vector.power_ops = 50;
  gpu.kernels.vector.lookup_ops = 119;
  gpu.kernels.vector.row_ops = 16;
  gpu.kernels.vector.row_cycles = 700;
  const auto time = [&](const VectorShape& shape) { return described(shape, gpu).compute_time.value * 1e9; };
  const auto instructions = [&](VectorChain chain, DType dtype = DType::fp32, Pass pass = Pass::forward) {
    const double elements = 2048 / element_size(dtype).value;  // of a work group
    return time({.chain = chain, .rows = 1000, .cols = 512, .dtype = dtype, .pass = pass}) * 32 / elements;
  };
  CHECK(instructions(VectorOp::add) == near(3 * 2 + 1));
  CHECK(instructions(VectorOp::add, DType::bf16) == near(3 * 3 + 1));
  CHECK(instructions(VectorOp::gelu) == near(2 * 2 + 26));
  CHECK(instructions(VectorOp::gelu, DType::bf16, Pass::backward) == near(3 * 3 + 38));
  CHECK(instructions(VectorOp::silu) == near(2 * 2 + 20));
  CHECK(instructions(VectorOp::copy) == near(2 * 2));
  CHECK(instructions(VectorOp::add_bias) == near(2 * 2 + 53));
  CHECK(instructions(VectorOp::add_bias_nchw, DType::bf16) == near(2 * 3 + 67));
  CHECK(instructions(VectorOp::add_bias, DType::fp32, Pass::backward) == near(2 + 3.3));
  CHECK(instructions(VectorOp::add_bias_nchw, DType::fp32, Pass::backward) == near(2 + 40));
  CHECK(instructions(VectorOp::concatenate) == near(2 * 2 + 47.5));
  CHECK(instructions(VectorOp::pow) == near(3 * 2 + 50));
  CHECK(instructions(VectorOp::embedding) == near(2 * 2 + 119));
  CHECK(instructions(VectorOp::quantize, DType::bf16) == near(1.5 * 3 + 7));
  CHECK(instructions(VectorOp::quantize_both, DType::bf16) == near(2 * 3 + 2 * 7));
  CHECK(instructions(VectorOp::quantize_mx, DType::bf16) == near(1.5 * 3 + 2 * 7));
  CHECK(instructions(VectorOp::quantize_mx_both, DType::bf16) == near(2 * 3 + 4 * 7));
  // What a chain hands on is neither stored nor loaded.
  CHECK(instructions(chain_of({VectorOp::silu, VectorOp::mul}), DType::bf16) == near(3 * 3 + 21));
  // Rows: a softmax in registers by its own count, columns padded; longer ones and norms read again.
  const auto row = [&](VectorOp op, std::int64_t cols) {
    return time({.chain = op, .rows = 1000, .cols = cols});
  };
  CHECK(row(VectorOp::softmax, 1000) == near(4 * 1024 * 16 / 32.0));
  CHECK(row(VectorOp::softmax, 2000) == near(2000 * (4 * 2 + 23) / 32.0));
  CHECK(row(VectorOp::rmsnorm, 4096) == near(700 + 4096 * (3 * 2 + 6.5) / 32));
  CHECK(row(VectorOp::rmsnorm, 4097) == near(700 + 4608 * (3 * 2 + 6.5) / 32));
  const VectorShape eager{.chain = VectorOp::rmsnorm, .rows = 1000, .cols = 512, .is_eager = true};
  CHECK(time(eager) == near(700 + 512 * (3 * 2 + 6.5) / 32));
  // A wave a row: four rows of 640 columns, 128 a load, and 32 lanes' sums: one of RMS, two of layer norm.
  CHECK(row(VectorOp::rmsnorm, 600) == near(4 * (640 * (2 * 2 + 6.5) + 32 * 30) / 32.0));
  CHECK(row(VectorOp::layernorm, 600) == near(4 * (640 * (2 * 2 + 26) + 32 * 40) / 32.0));
  CHECK(row(VectorOp::rmsnorm, 8) == near(4 * (128 * (2 * 2 + 6.5) + 32 * 30) / 32.0));
}

TEST_CASE("an optimizer takes the time of its bytes and that of its instructions, which alone needs CUs") {
  GpuSpec gpu = vector_gpu();
  gpu.hbm.latency = gpu.dispatch.launch_latency = Seconds{1e-12};  // of waves and of the launch
  gpu.dispatch.work_group_spread = 0;
  gpu.cache.l2_size = gpu.cache.llc_size = Bytes{1};
  const auto time = [&](VectorOp op, int cus) {
    return time_alone(described(shape_of(op), gpu), gpu, {.cus = cus, .launch = LaunchCost::device}).time.value;
  };
  const double elements = 1000.0 * 3000;
  const double bytes = 1.0 / hbm_rate_alone(gpu.hbm, Bytes{16 * elements}, Bytes{12 * elements});
  const double issued = elements * instructions_of(shape_of(VectorOp::adam), gpu.kernels.vector) /
                        (instructions_per_second(gpu) * gpu.compute.cus());
  const int cus = gpu.compute.cus();
  CHECK(time(VectorOp::adam, cus) > bytes + issued);
  CHECK(time(VectorOp::adam, cus) < 1.2 * (bytes + issued));
  // On half of the CUs its instructions take twice as long, its bytes do not.
  CHECK(time(VectorOp::adam, cus / 2) - time(VectorOp::adam, cus) == near(issued, 0.1));
}

TEST_CASE("a 16-bit optimizer converts its gradient and its parameter, and has the rest in fp32") {
  GpuSpec gpu = vector_gpu();
  gpu.kernels.vector.access_ops = 2;
  gpu.kernels.vector.convert_ops = 1;
  CHECK(instructions_of(shape_of(VectorOp::adam), gpu.kernels.vector) == 7 * 2 + 43);
  CHECK(instructions_of(shape_of(VectorOp::adam, DType::bf16), gpu.kernels.vector) == 8 * 2 + 2 * 1 + 43);
}

TEST_CASE(
    "a row softmax loops three times over vectors, the rest of a vector block, and the rest of a vector") {
  GpuSpec gpu = vector_gpu();
  gpu.kernels.vector.iteration_us = 1;
  gpu.kernels.vector.block_us = 100;
  const auto least = [&](std::int64_t cols, DType dtype = DType::fp32) {
    const VectorShape shape{.chain = VectorOp::softmax, .rows = 4, .cols = cols, .dtype = dtype};
    return described(shape, gpu).least_time.value * 1e6;
  };
  CHECK(least(2048) == near(100 + 3 * 2));               // 256 threads x 4
  CHECK(least(1280) == near(100 + 3 * (1 + 1)));         // 1024, and a single for 256 threads
  CHECK(least(4096) == near(100 + 3 * 2));               // 512 threads x 4
  CHECK(least(4097) == near(100 + 3 * (2 + 1 + 1)));     // one more, and not a multiple of 4
  CHECK(least(4608) == near(100 + 3 * (2 + 1)));         // 512 more
  CHECK(least(4096, DType::bf16) == near(100 + 3 * 1));  // 512 threads x 8
}

TEST_CASE("each kind of call costs its host its own time") {
  CallCosts calls;
  calls.elementwise = 1.0_us;
  calls.softmax = 2.0_us;
  calls.norm = 3.0_us;
  const auto launch = [&](VectorOp op, std::int64_t cols) {
    const KernelDescription kernel = described({.chain = op, .rows = 4, .cols = cols});
    return time_alone(kernel, vector_gpu(), {.calls = calls}).launch.value * 1e6;
  };
  CHECK(launch(VectorOp::add, 100) == near(1));
  CHECK(launch(VectorOp::reduce, 100) == near(1));
  CHECK(launch(VectorOp::softmax, 100) == near(2));
  CHECK(launch(VectorOp::softmax, 10'000) == near(2));
  CHECK(launch(VectorOp::rmsnorm, 100) == near(3));
}

TEST_CASE("shapes that cannot be are refused by name") {
  CHECK_THROWS_WITH_AS(described({.chain = VectorOp::add, .rows = 0, .cols = 1}),
                       "'v': rows must be at least 1, not 0", InfeasibleError);
  CHECK_THROWS_WITH_AS(described({.chain = VectorOp::add, .rows = 1, .cols = -2}),
                       "'v': cols must be at least 1, not -2", InfeasibleError);
  // Three tensors of fp32 in 64e9 B.
  CHECK_NOTHROW(described({.chain = VectorOp::add, .rows = 5'300, .cols = 1'000'000}));
  CHECK_THROWS_WITH_AS(described({.chain = VectorOp::add, .rows = 5'400, .cols = 1'000'000}),
                       "'v': its tensors take 64.8 GB, and gpu 'round' has 64 GB", InfeasibleError);
  CHECK_THROWS_WITH_AS(describe_vector("v", shape_of(VectorOp::add), round_gpu()),
                       "gpu 'round' has no matrix rate for fp32", InfeasibleError);
}

TEST_CASE("only elementwise operators fuse, and eight at most") {
  VectorChain chain = VectorOp::add;
  CHECK_THROWS_AS(chain.append(VectorOp::softmax), std::invalid_argument);
  CHECK_THROWS_AS(VectorChain(VectorOp::adam).append(VectorOp::relu), std::invalid_argument);
  for (int i = 0; i < 7; ++i)
    chain.append(VectorOp::relu);
  CHECK_THROWS_AS(chain.append(VectorOp::relu), std::length_error);
  CHECK(name_of(Operator{VectorShape{.chain = chain_of({VectorOp::add, VectorOp::relu})}}) == "add+relu");
}

}  // namespace c3::gpu_vector_test
