// Products, bytes and times of the kernels of recurrences, by hand.

#include "gpu/kernels/scan/scan_kernel.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "configs/presets/preset_store.hpp"
#include "engine/errors.hpp"
#include "gpu/kernel_time.hpp"
#include "gpu/kernels/describe.hpp"
#include "gpu/kernels/operator_class.hpp"
#include "gpu/kernels/operator_table.hpp"
#include "gpu/kernels/scan/scan_work.hpp"
#include "tests/support/gpu_bench.hpp"
#include "tests/support/near.hpp"

namespace c3::gpu_scan_test {

using namespace literals;
using namespace test;

namespace {

using enum ScanStage;
constexpr ScanRule kDelta = ScanRule::gated_delta;
constexpr ScanRule kMamba = ScanRule::mamba2;

/// Two sequences of 12 tokens, which are two chunks of 8: 16 chunks of a head, 8 of a key head. 24 tokens have
/// 96 heads and 48 key heads.
ScanShape tiny(ScanRule rule, ScanStage stage) {
  return {.rule = rule,
          .stage = stage,
          .batch = 2,
          .length = 12,
          .heads = 4,
          .key_heads = 2,
          .key_dim = 16,
          .value_dim = 32,
          .chunk = 8};
}

struct CountedStage {
  ScanRule rule;
  ScanStage stage;
  double flops, read, written;
};

// Multiply-adds of a chunk and head: c k v = 4,096, c c k = 1,024, c c v = 2,048, c c c = 512; as many flops as
// 32 times those (16 chunks), or 16 times where key heads multiply. Bytes of a tensor: Q or K 48 x 16 x 2 =
// 1,536, in fp32 3,072; W 96 x 16 x 2 = 3,072; V 96 x 32 x 2 = 6,144; A 96 x 8 x 2 = 1,536; states 16 x 16 x
// 32 x 2 = 16,384, in fp32 32,768; a number of each token and head 96 x 4 = 384; products of mamba2 48 x 8 x 4
// = 1,536.
constexpr auto kCounted = std::to_array<CountedStage>({
    {kDelta, norm, 0, 1536, 1536},
    {kDelta, norm_gradient, 0, 2 * 1536, 1536},
    {kDelta, cumsum, 0, 384, 384},
    {kDelta, inverse, 32.0 * (640 + 128), 1536 + 2 * 384, 960},
    {kDelta, rows, 32.0 * (1024 + 2048), 1536 + 6144 + 1536 + 2 * 384, 3072 + 6144},
    {kDelta, states, 32.0 * 2 * 4096, 1536 + 3072 + 6144 + 384, 6144 + 16384},
    {kDelta, output, 32.0 * (4096 + 1024 + 2048), 2 * 1536 + 6144 + 16384 + 384, 6144},
    {kDelta, value_gradient, 32.0 * (1024 + 2048), 2 * 1536 + 6144 + 384, 6144},
    {kDelta, state_gradient, 32.0 * 3 * 4096, 2 * 1536 + 3072 + 2 * 6144 + 384, 6144 + 16384},
    {kDelta, input_gradient, 32.0 * (3 * 4096 + 3 * 1024 + 2048), 2 * 1536 + 3 * 6144 + 2 * 16384 + 384,
     3 * 3072 + 384},
    {kDelta, row_gradient, 32.0 * (5 * 1024 + 2 * 2048 + 2 * 512), 1536 + 2 * 3072 + 2 * 6144 + 1536 + 2 * 384,
     2 * 3072 + 6144 + 2 * 384},
    {kDelta, add, 0, 2 * 3072 + 2 * 384, 3072 + 384},
    {kMamba, cumsum, 0, 384, 2 * 384},
    {kMamba, chunk_state, 32.0 * 4096, 1536 + 6144 + 2 * 384, 32768},
    {kMamba, passing, 0, 32768, 16384},
    {kMamba, passing_gradient, 0, 2 * 32768, 2 * 16384},
    {kMamba, product, 16.0 * 1024, 2 * 1536, 1536},
    {kMamba, product_input, 16.0 * 1024, 1536 + 3072 + 1536, 1536},
    {kMamba, output, 32.0 * (4096 + 1024), 1536 + 6144 + 1536 + 16384 + 2 * 384, 6144},
    {kMamba, output_state, 32.0 * 4096, 1536 + 6144 + 384, 32768},
    {kMamba, value_gradient, 32.0 * (4096 + 1024), 1536 + 2 * 6144 + 1536 + 16384 + 2 * 384, 6144 + 384},
    {kMamba, key_gradient, 32.0 * 4096, 1536 + 6144 + 16384 + 2 * 384, 3072 + 384},
    {kMamba, query_gradient, 32.0 * 4096, 1536 + 6144 + 16384 + 384, 3072 + 384},
    {kMamba, product_gradient, 32.0 * 1024, 2 * 6144 + 2 * 384, 1536},
    {kMamba, decay_gradient, 32.0 * 1024, 2 * 6144 + 1536 + 2 * 384, 384},
    {kMamba, cumsum_gradient, 0, 5 * 384, 384},
});

/// 8 CUs of 6 work groups at 1 GHz, 1 us to memory, and nothing else that takes time but what a case sets.
GpuSpec scan_gpu() {
  GpuSpec gpu = with_fast_memory(round_gpu());
  gpu.compute.matrix.push_back({DType::fp32, 100.0_TFLOPs, 100.0_TFLOPs, 1000.0_MHz});
  gpu.compute.matrix.front().peak = FlopsPerSecond{1e21};
  gpu.family.issue_lanes = 1 << 30;
  gpu.dispatch.work_group_spread = 0;
  gpu.kernels.scan.row_cycles = 500;
  return gpu;
}

ScanShape heads_of(std::int64_t heads, std::int64_t length, ScanStage stage = states) {
  return {
      .stage = stage, .length = length, .heads = heads, .key_heads = heads, .key_dim = 128, .value_dim = 128};
}

double microseconds(const ScanShape& shape, const GpuSpec& gpu) { return time_of(shape, gpu).time.value * 1e6; }

ShapeWords scan_words(std::initializer_list<std::pair<ShapeKey, std::string_view>> changes) {
  ShapeWords words;
  words[ShapeKey::op] = "gated_delta";
  words[ShapeKey::dtype] = "bf16";
  words[ShapeKey::stage] = "states";
  words[ShapeKey::heads] = "8";
  words[ShapeKey::seq] = "128";
  words[ShapeKey::head_dim] = "64";
  for (const auto& [key, word] : changes)
    words[key] = word;
  return words;
}

std::string refusal(std::initializer_list<std::pair<ShapeKey, std::string_view>> changes) {
  try {
    operator_of(scan_words(changes));
  } catch (const ShapeError& error) {
    return std::string(name_of(error.key())) + ": " + error.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("every kernel of a recurrence multiplies, loads and stores what its source does") {
  for (const CountedStage& counted : kCounted) {
    CAPTURE(c3::name_of(counted.rule));
    CAPTURE(c3::name_of(counted.stage));
    const ScanCounts counts = counts_of(tiny(counted.rule, counted.stage));
    CHECK(counts.flops.value == counted.flops);
    CHECK(counts.read.value == counted.read);
    CHECK(counts.written.value == counted.written);
  }
}

TEST_CASE("every kernel that a pass of a recurrence launches is counted by hand here, and no other is") {
  std::size_t launched = 0;
  for (const CountedStage& counted : kCounted) {
    for (const Pass pass : {Pass::forward, Pass::backward}) {
      const auto stages = scan_stages(counted.rule, pass);
      launched += std::ranges::find(stages, counted.stage) != stages.end() ? 1 : 0;
    }
  }
  // Kernels of both passes: rows, states and cumsum of gated_delta; the first four of mamba2.
  CHECK(launched == kCounted.size() + 3 + 4);
  // Norms of Q and of K are two launches, backward too, as are dQ and dK of mamba2's products.
  CHECK(scan_stages(kDelta, Pass::forward).size() == 7);
  CHECK(scan_stages(kDelta, Pass::backward).size() == 10);
  CHECK(scan_stages(kMamba, Pass::forward).size() == 5);
  CHECK(scan_stages(kMamba, Pass::backward).size() == 14);
  for (const ScanRule rule : {kDelta, kMamba}) {
    for (const Pass pass : {Pass::forward, Pass::backward}) {
      for (const ScanStage stage : scan_stages(rule, pass))
        CHECK(std::ranges::any_of(kCounted, [&](const CountedStage& counted) {
          return counted.rule == rule && counted.stage == stage;
        }));
    }
  }
}

TEST_CASE("products of a forward pass of the gated delta rule follow the closed formula") {
  // Flops of a token and head: S is read by W and Q and written once, 3 k v; K K^T in 10 of 16 blocks and
  // Q K^T, A with beta K, 2.625 c k; A with beta V, and scores with V', 2 c v; joining the inverses, c c / 4.
  for (const std::int64_t chunk : {16, 64, 128}) {
    ScanShape shape = heads_of(4, 1024);
    shape.chunk = chunk;
    shape.value_dim = 64;
    double flops = 0;
    for (const ScanStage stage : scan_stages(kDelta, Pass::forward)) {
      shape.stage = stage;
      flops += matrix_flops(shape).value;
    }
    const double c = static_cast<double>(chunk), k = 128, v = 64;
    CHECK(flops == near(2.0 * 4 * 1024 * (3 * k * v + c * (2.625 * k + 2 * v) + c * c / 4)));
  }
}

TEST_CASE("a chunk of a head is a work group; kernels that go through the chunks have one for 32 values") {
  CHECK(counts_of(tiny(kDelta, output)).work_groups == 16);
  CHECK(counts_of(tiny(kDelta, norm)).work_groups == 8);
  CHECK(counts_of(tiny(kMamba, product)).work_groups == 8);
  CHECK(counts_of(tiny(kMamba, passing)).work_groups == 8);  // one for 512 of a state's 512 numbers
  ScanShape shape = tiny(kDelta, states);
  CHECK(counts_of(shape).work_groups == 8);
  CHECK(counts_of(shape).steps == 2);
  shape.value_dim = 64;
  CHECK(counts_of(shape).work_groups == 16);
}

TEST_CASE("heads that share a key, and blocks of values that share an operand, load it from caches") {
  // Two heads a key: Q and K, 1,536 B each, come once more.
  CHECK(counts_of(tiny(kDelta, output)).read_again.value == 2 * 1536);
  CHECK(counts_of(tiny(kDelta, norm)).read_again.value == 0);
  ScanShape shape = tiny(kDelta, states);
  CHECK(counts_of(shape).read_again.value == 1536);
  shape.value_dim = 64;  // two blocks: K by four work groups, W by two
  CHECK(counts_of(shape).read_again.value == 3 * 1536 + 3072);
}

TEST_CASE("from a cold HBM a kernel loads each tensor once; what several work groups share comes from L2") {
  for (const CountedStage& counted : kCounted) {
    CAPTURE(c3::name_of(counted.stage));
    ScanShape shape = tiny(counted.rule, counted.stage);
    const auto stages = scan_stages(counted.rule, Pass::forward);
    shape.pass = std::ranges::find(stages, counted.stage) != stages.end() ? Pass::forward : Pass::backward;
    const ScanCounts counts = counts_of(shape);
    const KernelTime cold = time_of(shape, scan_gpu(), {.cold = true});
    CHECK(cold.hbm_read.value == near(counts.read.value));
    CHECK(cold.hbm_write.value == near(counts.written.value + counts.cleared.value));
    const Bytes moved = counts.read + counts.read_again + counts.written + counts.cleared;
    CHECK(cold.l2.value == near(moved.value));
  }
}

TEST_CASE("going through the chunks takes as long as they are many, and not as heads until the GPU is full") {
  // A work group waits 1 us for each of two products of a chunk; 2 us at first for where its sequence lies, and
  // 1 us for its first loads and its last stores each.
  const GpuSpec gpu = scan_gpu();
  const double launch = 0.25;
  CHECK(microseconds(heads_of(1, 640), gpu) == near(launch + 2 + 10 * 2 + 1, 1e-6));
  CHECK(microseconds(heads_of(1, 1280), gpu) == near(launch + 2 + 20 * 2 + 1, 1e-6));
  // 8 CUs hold 48 work groups of 84 KiB of registers: 12 heads of four blocks of values.
  CHECK(microseconds(heads_of(12, 640), gpu) == near(microseconds(heads_of(1, 640), gpu), 1e-6));
  CHECK(microseconds(heads_of(13, 640), gpu) > 1.8 * microseconds(heads_of(12, 640), gpu));
}

TEST_CASE("a chunk's matrix is inverted row after row of four blocks, which have two rows at once") {
  // 56 of 64 rows, 500 ns each, where a chunk is full; 14 of the first 16, and of 24 tokens 6 more.
  const GpuSpec gpu = scan_gpu();
  CHECK(counts_of(heads_of(1, 64, inverse)).rows == 56);
  CHECK(counts_of(heads_of(1, 4096, inverse)).rows == 56);
  CHECK(counts_of(heads_of(1, 24, inverse)).rows == 20);
  CHECK(counts_of(heads_of(1, 1, inverse)).rows == 0);
  CHECK(microseconds(heads_of(1, 64, inverse), gpu) - microseconds(heads_of(1, 16, inverse), gpu) ==
        near(42 * 0.5, 1e-6));
}

TEST_CASE("a carried state is loaded before the first chunk and stored after the last one, in fp32") {
  // 2 x 4 states of 16 x 32 numbers, and 1 us more for the load, which the first product waits for.
  ScanShape shape = tiny(kDelta, states);
  const ScanCounts fresh = counts_of(shape);
  shape.state = ScanState::carried;
  const ScanCounts carried = counts_of(shape);
  CHECK((carried.read - fresh.read).value == 8 * 16 * 32 * 4);
  CHECK((carried.written - fresh.written).value == 8 * 16 * 32 * 4);
  ScanShape longer = heads_of(1, 640);
  longer.state = ScanState::carried;
  CHECK(microseconds(longer, scan_gpu()) == near(microseconds(heads_of(1, 640), scan_gpu()) + 1, 1e-6));
  shape.stage = output;
  CHECK(counts_of(shape).read.value == counts_of(tiny(kDelta, output)).read.value);
}

TEST_CASE("the library clears the matrices of all chunks before it inverts them") {
  // 96 rows of 8 numbers of 16 bits, of which it stores 10 of 16 blocks.
  const KernelDescription kernel = describe_scan("scan", tiny(kDelta, inverse), scan_gpu());
  REQUIRE(kernel.before.size() == 1);
  CHECK(kernel.before.front().written.value == 1536);
  CHECK(describe_scan("scan", tiny(kDelta, rows), scan_gpu()).before.empty());
}

TEST_CASE("no kernel of a recurrence is slower on a GPU with a faster memory or faster matrix units") {
  const GpuSpec gpu = load_gpu("h100-sxm");
  GpuSpec wider = gpu;
  for (BytesPerSecond* rate : {&wider.hbm.peak, &wider.hbm.read, &wider.hbm.write, &wider.hbm.copy})
    *rate = 2.0 * *rate;
  GpuSpec faster = gpu;
  for (MatrixRate& rate : faster.compute.matrix)
    rate.peak = 2.0 * rate.peak;
  for (const CountedStage& counted : kCounted) {
    CAPTURE(c3::name_of(counted.stage));
    ScanShape shape = heads_of(32, 8192, counted.stage);
    shape.rule = counted.rule;
    shape.batch = 4;
    const auto stages = scan_stages(counted.rule, Pass::forward);
    const bool is_forward = std::ranges::find(stages, counted.stage) != stages.end();
    shape.pass = is_forward ? Pass::forward : Pass::backward;
    const double time = microseconds(shape, gpu);
    CHECK(microseconds(shape, wider) < time);  // 128 heads of 8,192 tokens: no cache holds them
    const bool multiplies = counted.flops > 0;
    CHECK(microseconds(shape, faster) <= time);
    if (multiplies) CHECK(microseconds(shape, faster) < time);
  }
}

TEST_CASE("a recurrence is read from words, with as many keys as values and the library's chunk unless said") {
  const Operator op = operator_of(scan_words({}));
  const ScanShape expected{
      .stage = states, .length = 128, .heads = 8, .key_heads = 8, .key_dim = 64, .value_dim = 64};
  CHECK(op == Operator(expected));
  const Operator ssd = operator_of(scan_words({{ShapeKey::op, "mamba2"},
                                               {ShapeKey::stage, "output"},
                                               {ShapeKey::kv_heads, "2"},
                                               {ShapeKey::value_dim, "32"}}));
  CHECK(ssd.as<ScanShape>()->chunk == 256);
  CHECK(name_of(ssd) == "mamba2");
  CHECK(ssd.of_class().shape_text(ssd) == "output of 1 of 8/2 heads, 128 x 64/32 in chunks of 256 bf16");
}

TEST_CASE("words that mean no kernel of a recurrence are refused with what is allowed") {
  CHECK(refusal({{ShapeKey::stage, ""}}) == "stage: is missing; gated_delta requires it");
  CHECK(refusal({{ShapeKey::stage, "passing"}}).find("stage: ") == 0);
  CHECK(refusal({{ShapeKey::stage, "passing"}}).find("norm, cumsum, inverse, rows, states, output") !=
        std::string::npos);
  // Backward computes W, U and the states again, but not the inverse.
  CHECK(refusal({{ShapeKey::pass, "backward"}}) == "none");
  CHECK(refusal({{ShapeKey::pass, "backward"}, {ShapeKey::stage, "inverse"}}).find("stage: ") == 0);
  CHECK(refusal({{ShapeKey::dtype, "fp32"}}) == "dtype: must be bf16 or fp16 of a recurrence");
  CHECK(refusal({{ShapeKey::kv_heads, "3"}}) == "kv_heads: 3 does not divide the 8 heads");
  CHECK(refusal({{ShapeKey::pass, "backward"}, {ShapeKey::initial, "carried"}}).find("initial: ") == 0);
  CHECK(refusal({{ShapeKey::chunk, "0"}}) == "chunk: must be at least 1, not 0");
  CHECK(refusal({{ShapeKey::seq, "1000000000000"}, {ShapeKey::heads, "1000000"}}).find("seq: ") == 0);
}

TEST_CASE("a kernel of a recurrence that cannot run is infeasible, and says which extent is wrong") {
  const auto infeasible = [](const ScanShape& shape) {
    try {
      describe_scan("scan", shape, scan_gpu());
    } catch (const InfeasibleError& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  ScanShape shape = tiny(kDelta, states);
  CHECK(infeasible(shape) == "none");
  shape.chunk = 0;
  CHECK(infeasible(shape) == "'scan': chunk must be at least 1, not 0");
  shape = tiny(kDelta, states);
  shape.key_heads = 3;
  CHECK(infeasible(shape) == "'scan': kv_heads 3 must divide heads 4");
  CHECK(infeasible(tiny(kDelta, passing)) == "'scan': gated_delta has no kernel 'passing' forward");
}

}  // namespace c3::gpu_scan_test
