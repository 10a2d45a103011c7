// Flash attention by hand: flops, bytes, work groups, and the time of one.

#include "gpu/kernel_model/attention.hpp"

#include <doctest/doctest.h>

#include "engine/errors.hpp"
#include "tests/support/mi300x_like.hpp"
#include "tests/support/near.hpp"
#include "tests/support/print_units.hpp"

using namespace c3;
using namespace c3::literals;
using namespace c3::test;

namespace {

/// 2 sequences of 256, 8 heads of 128 that share 2 of keys and values; bf16.
const AttentionShape kGrouped = {
    .batch = 2, .heads = 8, .kv_heads = 2, .queries = 256, .keys = 256, .head_dim = 128};

KernelDescription described(const AttentionShape& shape, const GpuSpec& gpu = mi300x_like_gpu()) {
  return describe_attention("a", shape, gpu);
}

AttentionShape with(AttentionShape shape, std::int64_t queries, std::int64_t keys, bool causal = true) {
  shape.queries = queries;
  shape.keys = keys;
  shape.causal = causal;
  return shape;
}

AttentionShape backward_of(AttentionShape shape) {
  shape.pass = Pass::backward;
  return shape;
}

double hbm_read(const KernelDescription& kernel) {
  return (kernel.traffic->per_work_group({}).hbm * static_cast<double>(kernel.work_groups)).value;
}
double stored(const KernelDescription& kernel) {
  return (kernel.output * static_cast<double>(kernel.work_groups)).value;
}

}  // namespace

TEST_CASE("attention's flops are two products of queries, keys and head size") {
  CHECK(described(kGrouped).useful_flops.value == near(2 * 2.0 * 2 * 8 * 256 * 256 * 128));
  CHECK(described(backward_of(kGrouped)).useful_flops.value == near(5 * 2.0 * 2 * 8 * 256 * 256 * 128));
}

TEST_CASE("a causal mask leaves half of the pairs and the diagonal, and all keys before the first query") {
  const double each = 2 * 2.0 * 2 * 8 * 128;  // flops of a pair, all heads and sequences
  CHECK(described(with(kGrouped, 256, 256)).useful_flops.value == near(each * 256 * 257 / 2));
  CHECK(described(with(kGrouped, 1, 1)).useful_flops.value == near(each));
  // 100 queries after 900 cached keys: 901 + .. + 1000 pairs. One query sees all.
  CHECK(described(with(kGrouped, 100, 1000)).useful_flops.value == near(each * (100 * 900 + 5050)));
  CHECK(described(with(kGrouped, 1, 1000)).useful_flops.value == near(each * 1000));
}

TEST_CASE("query heads that share keys and values read them from HBM once") {
  const double query = 2.0 * 2 * 256 * 8 * 128;  // B
  const double key = 2.0 * 2 * 256 * 2 * 128;
  const KernelDescription forward = described(kGrouped);
  CHECK(hbm_read(forward) == near(query + 2 * key));
  CHECK(stored(forward) == near(query));
  CHECK(forward.compulsory.value == near(2 * query + 2 * key));

  AttentionShape of_its_own = kGrouped;
  of_its_own.kv_heads = 8;
  CHECK(hbm_read(described(of_its_own)) == near(3 * query));

  // Queries, outputs and their gradients in with keys and values; three gradients out.
  const KernelDescription backward = described(backward_of(kGrouped));
  CHECK(hbm_read(backward) == near(3 * query + 2 * key));
  CHECK(stored(backward) == near(query + 2 * key));
  CHECK(backward.compulsory.value == near(4 * query + 4 * key));
}

TEST_CASE("cached keys are read too, split over the CUs") {
  const double query = 2.0 * 2 * 1 * 8 * 128;
  const double key = 2.0 * 2 * 4096 * 2 * 128;
  const KernelDescription decoding = described(with(kGrouped, 1, 4096));
  CHECK(hbm_read(decoding) == near(query + 2 * key));
  CHECK(stored(decoding) == near(query));
  // The heads that share keys are packed: 2 sequences x 2 key heads, in 76 parts each for 304 CUs.
  CHECK(decoding.work_groups == 2 * 2 * 76);
}

TEST_CASE("a work group takes the queries of a tile through the keys that one of them sees, step by step") {
  GpuSpec gpu = mi300x_like_gpu();
  gpu.kernels.attention = {};
  gpu.kernels.attention.share = 0.5;
  gpu.kernels.attention.exp_share = 0.5;
  gpu.kernels.attention.work_group_us = 2;
  gpu.kernels.attention.query_passes = gpu.kernels.attention.key_passes = 0;
  // Two products of 128 at half of 1300 TFLOP/s / 304, and one of 8 exponentials a clock of 2.1 GHz.
  const double pair = 2 * 2 * 128 / (0.5 * 1300e12 / 304) + 1 / (8 * 2.1e9);
  const double step = 64 * 32 * pair;

  const KernelDescription full = described(kGrouped, gpu);
  CHECK(full.work_groups == 2 * 8 * 4);
  CHECK(full.compute_time.value == near(2e-6 + 8 * step));
  CHECK(full.overhead.value == 0);
  CHECK(full.traffic->per_work_group({}).l2.value == near(2.0 * (64 * 128 + 2 * 256 * 128)));

  // Tiles of 64 queries see 64, 128, 192 and 256 keys, 2, 4, 6 and 8 steps: 5 on average, 8 the longest.
  const KernelDescription causal = described(with(kGrouped, 256, 256), gpu);
  CHECK(causal.compute_time.value == near(2e-6 + 5 * step));
  CHECK(causal.overhead.value == near(3 * step));

  // 100 queries after 28 keys: 64 see up to 92 keys, 3 steps, 36 more up to 128, 4 steps.
  CHECK(described(with(kGrouped, 100, 128), gpu).compute_time.value == near(2e-6 + 3.5 * step));
  // Backward has five products, each pair's exponential once.
  CHECK(described(backward_of(kGrouped), gpu).compute_time.value ==
        near(2e-6 + 8 * 64 * 32 * (5 * 2 * 128 / (0.5 * 1300e12 / 304) + 1 / (8 * 2.1e9))));
}

TEST_CASE("GPUs whose instructions take operands of four warps work on tiles of 128 x 128") {
  GpuSpec gpu = mi300x_like_gpu();
  for (const GpuFamily family : {GpuFamily::hopper, GpuFamily::blackwell}) {
    gpu.family = family;
    CHECK(described(kGrouped, gpu).work_groups == 2 * 8 * 2);
  }
}

TEST_CASE("passes over queries and keys that nothing hides take HBM's time") {
  GpuSpec gpu = mi300x_like_gpu();
  gpu.hbm.read = 4.0_TBps;
  gpu.kernels.attention.hbm_share = 0.5;
  gpu.kernels.attention.query_passes = 3;
  gpu.kernels.attention.key_passes = 2;
  const double query = 2.0 * 2 * 256 * 8 * 128;
  const double key = 2.0 * 2 * 256 * 2 * 128;
  CHECK(described(kGrouped, gpu).overhead.value == near((3 * query + 2 * 2 * key) / 2e12));
  CHECK(described(kGrouped, gpu).hbm_share == 0.5);
}

TEST_CASE("attention that cannot be is refused by name") {
  AttentionShape shape = kGrouped;
  shape.kv_heads = 3;
  CHECK_THROWS_WITH_AS(described(shape), "'a': kv_heads 3 must divide heads 8", InfeasibleError);
  shape.kv_heads = 16;
  CHECK_THROWS_WITH_AS(described(shape), "'a': kv_heads 16 must divide heads 8", InfeasibleError);
  shape.kv_heads = 0;
  CHECK_THROWS_WITH_AS(described(shape), "'a': kv_heads must be at least 1, not 0", InfeasibleError);
  CHECK_THROWS_WITH_AS(described(with(kGrouped, 257, 256)),
                       "'a': causal, so seq 257 cannot be above kv_seq 256", InfeasibleError);
  CHECK_NOTHROW(described(with(kGrouped, 257, 256, /*causal=*/false)));
  CHECK_THROWS_WITH_AS(described(with(kGrouped, 0, 256)), "'a': seq must be at least 1, not 0",
                       InfeasibleError);
  CHECK_THROWS_WITH_AS(described(with(kGrouped, 1, -1)), "'a': kv_seq must be at least 1, not -1",
                       InfeasibleError);
  // 192 GB are 206e9 B as memory is sold. Keys and values of 2 x 2 heads of 128: 2,048 B a key.
  CHECK_NOTHROW(described(with(kGrouped, 1, 100'000'000)));
  CHECK_THROWS_WITH_AS(described(with(kGrouped, 1, 101'000'000)),
                       "'a': its tensors take 206.8 GB, and gpu 'mi300x-like' has 192 GB", InfeasibleError);
  shape = kGrouped;
  shape.dtype = DType::fp8;
  CHECK_THROWS_WITH_AS(described(shape), "gpu 'mi300x-like' has no matrix rate for fp8", InfeasibleError);
}
