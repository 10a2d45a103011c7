// The kernels of an indexer, and of attention to what it chooses: pairs, flops and bytes by hand.

#include "gpu/kernels/index/index_shape.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "configs/presets/preset_store.hpp"
#include "engine/errors.hpp"
#include "gpu/kernel_time.hpp"
#include "gpu/kernels/attention/attention_shape.hpp"
#include "gpu/kernels/describe.hpp"
#include "gpu/kernels/operator_class.hpp"
#include "gpu/kernels/operator_table.hpp"
#include "tests/support/near.hpp"

namespace c3::gpu_index_test {

using namespace literals;
using namespace test;

namespace {

/// Two sequences of four queries beside two cached keys: rows of 3, 4, 5 and 6 keys, at most 4 of which are
/// chosen.
IndexShape tiny(IndexStage stage) {
  const bool chooses = stage == IndexStage::select;
  return {.stage = stage,
          .batch = 2,
          .heads = chooses ? 1 : 8,
          .queries = 4,
          .keys = 6,
          .head_dim = chooses ? 1 : 16,
          .selected = stage == IndexStage::logits ? 0 : 4,
          .dtype = chooses ? DType::fp32 : DType::bf16};
}

/// As latent attention of DeepSeek-V3.2 has it.
AttentionShape sparse(std::int64_t heads, std::int64_t selected) {
  return {.heads = heads,
          .kv_heads = 1,
          .queries = 8192,
          .keys = 8192,
          .head_dim = 576,
          .causal = true,
          .value_dim = 512,
          .values = AttentionValues::in_keys,
          .selected = selected};
}

Seconds alone(const Operator& op) {
  static const GpuSpec kGpu = load_gpu("h100-sxm");
  return time_of(op, kGpu).time;
}

std::string refusal(const ShapeWords& words) {
  try {
    operator_of(words, operator_classes());
  } catch (const ShapeError& error) {
    return std::string(name_of(error.key())) + ": " + error.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("index: scores of all keys before a query, and a choice of the best, by hand") {
  const IndexCounts logits = counts_of(tiny(IndexStage::logits));
  CHECK(logits.pairs == 2 * (3 + 4 + 5 + 6));
  CHECK(logits.flops.value == 2 * 36 * 8 * 16);
  CHECK(logits.written.value == 36 * 4);
  // Queries of 8 heads, keys and weights of heads.
  CHECK(logits.read.value == 2 * (4 * 8 * 16 + 6 * 16) * 2 + 2 * 4 * 8 * 4);
  CHECK(logits.work_groups == 2);  // 16 queries of 8 heads fill a tile of 128 rows
  const IndexCounts choice = counts_of(tiny(IndexStage::select));
  CHECK(choice.read.value == 36 * 4);
  CHECK(choice.again.value == 36 * 4);
  CHECK(choice.written.value == 2 * 4 * 4 * 4);
  CHECK(choice.work_groups == 2 * 4);
  CHECK(choice.flops.value == 0);
}

TEST_CASE("index: what a score learns from, and its gradients, are those of chosen keys, by hand") {
  const IndexCounts target = counts_of(tiny(IndexStage::target)),
                    gradient = counts_of(tiny(IndexStage::gradient));
  CHECK(target.pairs == 2 * (3 + 4 + 4 + 4));
  CHECK(target.flops.value == 2 * 30 * 8 * 16);
  CHECK(gradient.flops.value == 3 * target.flops.value);
  CHECK(target.written.value == 30 * 4);
  CHECK(gradient.written.value == 2 * (4 * 8 * 16 + 6 * 16) * 2);
  CHECK(target.row_share == 8.0 / 64.0);
  CHECK(target.again.value == 30 * 16 * 2);          // keys of each pair, for the heads of one tile
  CHECK(gradient.again.value == 30 * 16 * (2 + 4));  // and gradients of keys, in fp32
}

TEST_CASE("index: more keys, heads and selected tokens never take less time") {
  for (const IndexStage stage :
       {IndexStage::logits, IndexStage::select, IndexStage::target, IndexStage::gradient}) {
    CAPTURE(name_of(stage));
    IndexShape shape = tiny(stage);
    shape.queries = shape.keys = 2048;
    if (shape.selected > 0) shape.selected = 256;
    Seconds before{};
    for (const std::int64_t keys : {2048, 4096, 16384}) {
      shape.keys = keys;
      CHECK(alone(shape) >= before);
      before = alone(shape);
    }
    if (stage == IndexStage::select) continue;
    for (const std::int64_t heads : {64, 128}) {
      shape.heads = heads;
      CHECK(alone(shape) >= before);
      before = alone(shape);
    }
  }
}

TEST_CASE(
    "sparse attention: as many pairs as are chosen, and of fewer heads than a tile has rows as many flops") {
  CHECK(visible_pairs(sparse(64, 2048)) == 2048.0 * 2049 / 2 + 6144.0 * 2048);
  CHECK(visible_pairs(sparse(64, 0)) == 8192.0 * 8193 / 2);
  const GpuSpec gpu = load_gpu("h100-sxm");
  const KernelDescription few = describe("few", sparse(8, 2048), gpu),
                          many = describe("many", sparse(64, 2048), gpu);
  CHECK(few.work_groups == 8192);
  CHECK(many.work_groups == 8192);
  CHECK(few.flops.value == near(many.flops.value));
  CHECK(few.useful_flops.value == near(many.useful_flops.value / 8.0));
  CHECK(describe("two tiles", sparse(128, 2048), gpu).work_groups == 2 * 8192);
  // A choice of all keys is no other kernel: each query has its own tile, however few heads there are.
  AttentionShape all = sparse(64, 8192);
  CHECK(visible_pairs(all) == visible_pairs(sparse(64, 0)));
  CHECK(describe("all", all, gpu).work_groups == 8192);
  all.selected = 16384;
  CHECK(alone(all) == alone(sparse(64, 8192)));
  // Of long sequences it takes less time than attention to all tokens.
  CHECK(alone(sparse(64, 2048)) < 0.6 * alone(sparse(64, 0)));
}

TEST_CASE("index: what is missing or contradicts is refused by key") {
  ShapeWords words;
  words[ShapeKey::op] = "index_logits";
  words[ShapeKey::dtype] = "fp8";
  words[ShapeKey::heads] = "64";
  words[ShapeKey::seq] = "4096";
  CHECK(refusal(words).find("head_dim: ") == 0);
  words[ShapeKey::head_dim] = "128";
  CHECK(refusal(words) == "none");
  words[ShapeKey::kv_seq] = "1024";
  CHECK(refusal(words) == "kv_seq: must be at least seq, which is 4096 (it is 1024)");
  words[ShapeKey::kv_seq] = "8192";
  words[ShapeKey::op] = "index_target";
  CHECK(refusal(words).find("selected: ") == 0);
  words[ShapeKey::op] = "attention";
  words[ShapeKey::selected] = "128";
  CHECK(refusal(words).find("selected: requires causal attention without a window") == 0);
  words[ShapeKey::causal] = "1";
  CHECK(refusal(words) == "none");
  IndexShape wrong = tiny(IndexStage::target);
  wrong.selected = 0;
  CHECK_THROWS_AS(describe("index", wrong, load_gpu("h100-sxm")), InfeasibleError);
}

}  // namespace c3::gpu_index_test
