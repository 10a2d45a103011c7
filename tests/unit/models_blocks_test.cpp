// Kinds of blocks: what each is made of, how ranks share it, and which layers of a model have it.

#include "workloads/models/blocks/block_kind.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "gpu/kernels/attention/attention_shape.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/index/index_shape.hpp"
#include "gpu/kernels/scan/causal_conv.hpp"
#include "gpu/kernels/scan/scan_shape.hpp"
#include "tests/unit/training_setups.hpp"
#include "workloads/models/training_kernels.hpp"
#include "workloads/models/transformer.hpp"
#include "workloads/training/tensor_parallel.hpp"

namespace c3::models_blocks_test {

using namespace test;

namespace {

/// Eight layers of width 64, 8 heads of 16 that share 4, a feed-forward of 96.
ModelDimensions plain() {
  return {.name = "plain",
          .hidden = 64,
          .ffn = 96,
          .heads = 8,
          .kv_heads = 4,
          .layers = 8,
          .gated = true,
          .own_head_dim = 16,
          .vocabulary = 101,
          .tied_embedding = false};
}

/// A block of \p kind with sizes that 4 ranks can share.
BlockDimensions block(BlockKind kind, std::string name = "own") {
  BlockDimensions block_of_kind{.name = std::move(name), .kind = kind, .sizes = usual_sizes(kind)};
  for (std::size_t i = 0; i < block_of_kind.sizes.size(); ++i)
    if (!kind->keys[i].usual)
      block_of_kind.sizes[i] = kind->keys[i].name == "groups"          ? 4
                               : kind->keys[i].name.ends_with("heads") ? 8
                                                                       : 16;
  return block_of_kind;
}

std::int64_t& size(BlockDimensions& block, std::string_view key) {
  const auto found = std::ranges::find(block.kind->keys, key, &BlockKey::name);
  REQUIRE(found != block.kind->keys.end());
  return block.sizes[static_cast<std::size_t>(found - block.kind->keys.begin())];
}

ModelDimensions with(const BlockDimensions& block, std::vector<std::string> pattern) {
  ModelDimensions model = plain();
  if (block.kind == BlockKind::latent || block.kind == BlockKind::sparse_latent)
    model.latent = {.query_rank = 24, .kv_rank = 16, .plain_dim = 8, .rotated_dim = 8, .value_dim = 16};
  model.blocks = {block};
  model.layer_pattern = std::move(pattern);
  return model;
}

std::vector<std::string> names_of(std::span<const ModelPart> parts) {
  std::vector<std::string> names;
  for (const ModelPart& part : parts)
    names.push_back(name_of(part.id));
  return names;
}

/// Kernels for 2 sequences of 256 tokens, with norms in one kernel.
BlockKernels kernels_of(std::span<const ModelPart> parts) {
  Framework framework = llama_setup().framework;
  framework.kernels = KernelStyle::megatron;
  framework.grouped_heads = true;
  const TokenBatch batch{.sequences = 2, .length = 256, .between = 512};
  return lower(parts, framework, batch);
}

template <class Shape>
std::vector<Shape> shapes_of(const std::vector<PartKernel>& kernels) {
  std::vector<Shape> shapes;
  for (const PartKernel& kernel : kernels)
    if (const Shape* shape = kernel.op.as<Shape>()) shapes.push_back(*shape);
  return shapes;
}

std::vector<ModelPart> layer(const ModelDimensions& model, std::int64_t number) {
  return layer_of(transformer(model).stacks.front(), number);
}

}  // namespace

TEST_CASE("blocks: every kind has a name, keys that are unlike, and kernels both ways") {
  for (const BlockKind kind : kBlockKinds) {
    CAPTURE(name_of(kind));
    CHECK(std::ranges::count(kBlockKinds, name_of(kind), [](BlockKind other) { return name_of(other); }) == 1);
    for (const BlockKey& key : kind->keys)
      CHECK(std::ranges::count(kind->keys, key.name, &BlockKey::name) == 1);
    for (const BlockKind other : kBlockKinds)  // of which a schema says one range
      for (const BlockKey& key : kind->keys)
        for (const BlockKey& same : other->keys)
          if (same.name == key.name) CHECK((same.most == key.most && same.is_flag == key.is_flag));
    const ModelDimensions model = with(block(kind), {"own"});
    const BlockKernels kernels = kernels_of(kind->parts(model, model.blocks.front().sizes));
    CHECK_FALSE(kernels.forward.empty());
    CHECK(kernels.backward.size() >= kernels.forward.size());
    CHECK_FALSE(kind->conflict(model, model.blocks.front().sizes).has_value());
  }
}

// Norms of latent vectors, projections to them, indexers, and weights that all heads have in common are on
// every rank.
TEST_CASE("blocks: parameters and products of all ranks together are one rank's") {
  const auto flops_of = [](const BlockKernels& kernels) {
    double flops = 0.0;
    for (const auto& half : {kernels.forward, kernels.backward})
      for (const PartKernel& kernel : half)
        if (kernel.op.of_class().matrix_flops != nullptr && kernel.part.role != Role::compress &&
            kernel.part.role != Role::index)
          flops += kernel.op.of_class().matrix_flops(kernel.op).value * static_cast<double>(kernel.count);
    return flops;
  };
  const auto is_divided = [](const ModelPart& part) {
    return std::holds_alternative<parts::Projection>(part.kind) && part.id.role != Role::compress;
  };
  for (const BlockKind kind : kBlockKinds) {
    const ModelDimensions model = with(block(kind), {"own"});
    const std::vector<ModelPart> whole = kind->parts(model, model.blocks.front().sizes);
    for (const int ranks : {2, 4}) {
      CAPTURE(name_of(kind));
      CAPTURE(ranks);
      for (const DividedCount& divided : kind->divided(model, model.blocks.front().sizes))
        CHECK(divided.count % ranks == 0);
      const std::vector<ModelPart> share = share_of(whole, ranks);
      CHECK(flops_of(kernels_of(share)) * ranks == doctest::Approx(flops_of(kernels_of(whole))).epsilon(1e-12));
      for (std::size_t i = 0; i < whole.size(); ++i)
        if (is_divided(whole[i])) CHECK(parameters(share[i]) * ranks == parameters(whole[i]));
    }
  }
}

TEST_CASE("blocks: a pattern goes through its names again and again") {
  ModelDimensions model = with(block(BlockKind::attention), {"own", "own", "attention"});
  CHECK(mixer_of(model, 0)->name == "own");
  CHECK(mixer_of(model, 2)->name == "attention");
  CHECK(mixer_of(model, 4)->name == "own");
  CHECK(mixers_of(model).size() == 2);
  CHECK(layer_period(model) == 8);  // three names do not divide eight layers
  model.layers = 9;
  CHECK(layer_period(model) == 3);
  model.experts = ExpertDimensions{.experts = 4, .interval = 2};
  model.layers = 12;
  CHECK(layer_period(model) == 6);
}

TEST_CASE("blocks: without a pattern all layers have the model's attention") {
  const ModelDimensions model = plain();
  REQUIRE(mixers_of(model).size() == 1);
  CHECK(mixers_of(model).front().kind == BlockKind::attention);
  CHECK(layer_period(model) == 1);
  CHECK(names_of(layer(model, 0)) == std::vector<std::string>{"attn.norm", "attn.qkv", "attn.rope",
                                                              "attn.attention", "attn.out", "attn.residual",
                                                              "mlp.norm", "mlp.gate_up", "mlp.activation",
                                                              "mlp.down", "mlp.residual"});
  // The same as a block that says the model's sizes once more.
  const ModelDimensions same = with(block(BlockKind::attention), {"own"});
  CHECK(kernels_of(layer(same, 0)).forward == kernels_of(layer(model, 0)).forward);
  CHECK(kernels_of(layer(same, 0)).backward == kernels_of(layer(model, 0)).backward);
}

TEST_CASE("blocks: apart, each is a layer, and keeps what the layer before has made") {
  ModelDimensions model = with(block(BlockKind::mamba2), {"own", "mlp", "attention", "experts"});
  model.blocks_apart = true;
  model.experts = ExpertDimensions{.experts = 4, .per_token = 2, .width = 32};
  CHECK(names_of(layer(model, 0)) == std::vector<std::string>{"ssm.norm", "ssm.qkv", "ssm.conv", "ssm.scan",
                                                              "ssm.output_gate", "ssm.out", "ssm.residual"});
  CHECK(names_of(layer(model, 1)).front() == "mlp.norm");
  CHECK(names_of(layer(model, 1)).size() == 5);
  CHECK(names_of(layer(model, 2)).back() == "attn.residual");
  CHECK(std::ranges::count(names_of(layer(model, 3)), "mlp.experts") == 1);
  for (std::int64_t number = 0; number < 4; ++number)
    CHECK(kernels_of(layer(model, number)).forward.front().kept_input.value == 512 * 64 * 2);
  CHECK(kernels_of(layer(plain(), 0)).forward.front().kept_input.value == 512 * 64 * 2);
  // Hybrid models have no more parameters than their blocks.
  CHECK(parameters(transformer(model)) == 2 * (parameters(layer(model, 0)) + parameters(layer(model, 1)) +
                                               parameters(layer(model, 2)) + parameters(layer(model, 3))) +
                                              2 * 101 * 64 + 64);
}

TEST_CASE("blocks: sparse latent attention has latent attention's parameters, and those of its indexer") {
  const ModelDimensions dense = with(block(BlockKind::latent), {"own"});
  ModelDimensions model = with(block(BlockKind::sparse_latent), {"own"});
  const auto weights_of = [](const ModelDimensions& of) { return parameters(transformer(of)); };
  // Queries of 8 heads of 16 from 24 numbers, keys of 16 and 8 weights from 64, two of a norm; in 8 layers.
  const std::int64_t indexer = 24 * 8 * 16 + 64 * (16 + 8) + 2 * 16;
  CHECK(weights_of(model) == weights_of(dense) + 8 * indexer);
  size(model.blocks.front(), "has_indexer") = 0;
  CHECK(weights_of(model) == weights_of(dense));
  CHECK(shapes_of<IndexShape>(kernels_of(layer(model, 0)).forward).empty());
}

TEST_CASE("blocks: an indexer scores all pairs, and attention's heads share the tokens that it chooses") {
  ModelDimensions model = with(block(BlockKind::sparse_latent), {"own"});
  size(model.blocks.front(), "selected") = 32;
  const BlockKernels kernels = kernels_of(layer(model, 0));
  const IndexShape logits{.stage = IndexStage::logits,
                          .batch = 2,
                          .heads = 8,
                          .queries = 256,
                          .keys = 256,
                          .head_dim = 16,
                          .dtype = DType::bf16};
  const IndexShape choice{.stage = IndexStage::select,
                          .batch = 2,
                          .queries = 256,
                          .keys = 256,
                          .selected = 32,
                          .dtype = DType::fp32};
  CHECK(shapes_of<IndexShape>(kernels.forward) == std::vector{logits, choice});
  IndexShape target = logits, gradient = logits;
  target.stage = IndexStage::target;
  target.head_dim = 16 + 8;  // of the key that attention's 8 heads share
  gradient.stage = IndexStage::gradient;
  target.selected = gradient.selected = 32;
  CHECK(shapes_of<IndexShape>(kernels.backward) == std::vector{target, gradient});
  const AttentionShape attention = shapes_of<AttentionShape>(kernels.forward).at(0);
  CHECK(attention == AttentionShape{.batch = 2,
                                    .heads = 8,
                                    .kv_heads = 1,
                                    .queries = 256,
                                    .keys = 256,
                                    .head_dim = 24,
                                    .causal = true,
                                    .value_dim = 16,
                                    .values = AttentionValues::in_keys,
                                    .selected = 32});
  // The products with what keys and values are made of are as many flops as making them.
  const auto flops_of = [](const std::vector<PartKernel>& of, BlockId where) {
    double flops = 0.0;
    for (const PartKernel& kernel : of)
      if (kernel.part.block == where && kernel.part.role != Role::index && kernel.op.as<GemmShape>() != nullptr)
        flops += matrix_flops(kernel.op).value;
    return flops;
  };
  const BlockKernels dense = kernels_of(layer(with(block(BlockKind::latent), {"own"}), 0));
  CHECK(flops_of(kernels.forward, BlockId::self_attention) == flops_of(dense.forward, BlockId::self_attention));
  CHECK(flops_of(kernels.backward, BlockId::self_attention) ==
        flops_of(dense.backward, BlockId::self_attention));
}

TEST_CASE("blocks: sparse latent attention names what contradicts its indexer") {
  ModelDimensions model = with(block(BlockKind::sparse_latent), {"own"});
  const auto conflict_of = [&] {
    return BlockKind(BlockKind::sparse_latent)->conflict(model, model.blocks.front().sizes)->what;
  };
  size(model.blocks.front(), "index_dim") = 7;
  CHECK(conflict_of() == "must be at least model.latent.rotated_dim, which is 8 (it is 7)");
  model.latent->query_rank = 0;
  CHECK(conflict_of() == "is \"sparse_latent\", whose indexer requires model.latent.query_rank");
  model.latent.reset();
  CHECK(conflict_of() == "is \"sparse_latent\", which requires the table [model.latent]");
}

TEST_CASE("blocks: attention to windows, within chunks, with heads of its own") {
  BlockDimensions own = block(BlockKind::attention);
  size(own, "window") = 32;
  const auto attention_of = [&] {
    const ModelDimensions model = with(own, {"own"});
    return shapes_of<AttentionShape>(kernels_of(own.kind->parts(model, own.sizes)).forward).at(0);
  };
  CHECK(attention_of().window == 32);
  CHECK(attention_of().queries == 256);
  size(own, "window") = 256;  // as long as a sequence
  CHECK(attention_of().window == 0);
  size(own, "window") = 0;
  size(own, "chunk") = 64;
  CHECK(attention_of().batch == 8);
  CHECK(attention_of().queries == 64);
  size(own, "chunk") = 0;
  size(own, "head_dim") = 32;
  size(own, "kv_heads") = 2;
  CHECK(attention_of().head_dim == 32);
  CHECK(attention_of().kv_heads == 2);
  CHECK(attention_of().heads == 8);
}

TEST_CASE("blocks: values that are keys, gates of outputs, and no rotation") {
  BlockDimensions own = block(BlockKind::attention);
  const auto parameters_of = [&] {
    const ModelDimensions model = with(own, {"own"});
    return parameters(own.kind->parts(model, own.sizes));
  };
  const std::int64_t usual = 64 * 16 * (8 + 4 + 4) + 8 * 16 * 64;
  CHECK(parameters_of() == usual);
  size(own, "values_are_keys") = 1;
  CHECK(parameters_of() == usual - 64 * 16 * 4);
  size(own, "gated_output") = 1;
  CHECK(parameters_of() == usual - 64 * 16 * 4 + 64 * 16 * 8);
  const ModelDimensions model = with(own, {"own"});
  CHECK(std::ranges::count(names_of(layer(model, 0)), "attn.output_gate") == 1);
  size(own, "rotates") = 0;
  CHECK(std::ranges::count(names_of(layer(with(own, {"own"}), 0)), "attn.rope") == 0);
}

// Counted by hand from the code of Qwen3-Next (transformers, qwen3_next).
TEST_CASE("blocks: the gated delta rule's parameters and kernels") {
  BlockDimensions own = block(BlockKind::gated_delta);
  size(own, "key_heads") = 2;
  size(own, "key_dim") = 16;
  size(own, "value_heads") = 4;
  size(own, "value_dim") = 32;
  const ModelDimensions model = with(own, {"own"});
  const std::vector<ModelPart> parts = own.kind->parts(model, own.sizes);
  const std::int64_t keys = 32, values = 128;
  CHECK(parameters(parts) ==
        64 * (2 * keys + 2 * values + 2 * 4) + 4 * (2 * keys + values) + 2 * 4 + 32 + values * 64);
  const BlockKernels kernels = kernels_of(parts);
  REQUIRE(shapes_of<CausalConvShape>(kernels.forward).size() == 1);
  CHECK(shapes_of<CausalConvShape>(kernels.forward)[0].channels == 2 * keys + values);
  const std::vector<ScanShape> stages = shapes_of<ScanShape>(kernels.forward);
  CHECK(stages.size() == scan_stages(ScanRule::gated_delta, Pass::forward).size());
  CHECK(std::ranges::all_of(stages, [](const ScanShape& shape) {
    return shape.batch == 2 && shape.length == 256 && shape.heads == 4 && shape.key_heads == 4;
  }));
  CHECK(shapes_of<ScanShape>(kernels.backward).size() ==
        scan_stages(ScanRule::gated_delta, Pass::backward).size());
}

// Counted by hand from the code of Mamba-2 (mamba_ssm/modules/mamba2.py).
TEST_CASE("blocks: Mamba-2's parameters and kernels") {
  BlockDimensions own = block(BlockKind::mamba2);
  size(own, "heads") = 8;
  size(own, "head_dim") = 16;
  size(own, "state") = 32;
  size(own, "groups") = 2;
  const ModelDimensions model = with(own, {"own"});
  const std::vector<ModelPart> parts = own.kind->parts(model, own.sizes);
  const std::int64_t inner = 128, convolved = inner + 2 * 2 * 32;
  CHECK(parameters(parts) == 64 * (inner + convolved + 8) + 5 * convolved + 3 * 8 + inner + inner * 64);
  const std::vector<ScanShape> stages = shapes_of<ScanShape>(kernels_of(parts).forward);
  CHECK(stages.size() == scan_stages(ScanRule::mamba2, Pass::forward).size());
  CHECK(stages.front().key_heads == 2);
  CHECK(stages.front().key_dim == 32);
  CHECK(stages.front().chunk == 256);
}

TEST_CASE("blocks: experts of latent vectors get these, and send them") {
  ModelDimensions model = plain();
  model.experts = ExpertDimensions{.experts = 4, .per_token = 2, .width = 48, .latent_width = 16};
  CHECK(model.routed_width() == 16);
  const std::vector<ModelPart> parts = layer(model, 0);
  CHECK(std::ranges::count(names_of(parts), "mlp.compress") == 1);
  CHECK(std::ranges::count(names_of(parts), "mlp.widen") == 1);
  const std::int64_t experts = 4 * 3 * 16 * 48, around = 2 * 64 * 16, router = 4 * 64;
  ModelDimensions dense = plain();
  CHECK(parameters(parts) - parameters(layer(dense, 0)) == experts + around + router - 3 * 64 * 96);
}

TEST_CASE("decoding keeps keys and values, those of a window or chunk, short vectors, or a state") {
  ModelDimensions model = plain();
  const double of_token = 8 * 4 * 2 * 16 * 2;  // 8 layers, 4 heads of keys and of values, 16 wide, 2 B
  CHECK(cached_bytes(model, 1000).value == 1000 * of_token);
  model.structure = Structure::encoder;
  CHECK(cached_bytes(model, 1000).value == 0);

  model = plain();
  model.layer_pattern = {"own", "attention"};
  const auto with = [&](BlockDimensions own) {
    model.blocks = {std::move(own)};
    return cached_bytes(model, 1000).value - 1000 * of_token / 2;  // of the four layers that it has
  };
  BlockDimensions windows = block(BlockKind::attention);
  windows.sizes[static_cast<std::size_t>(std::ranges::find(windows.kind->keys, "window", &BlockKey::name) -
                                         windows.kind->keys.begin())] = 100;
  CHECK(with(windows) == 100 * of_token / 2);
  // States of 8 heads, 16 x 16 in fp32, and three tokens of what the convolution sees.
  CHECK(with(block(BlockKind::gated_delta)) == 4 * (8 * 16 * 16 * 4 + 3 * (3 * 8 * 16) * 2));
  CHECK(with(block(BlockKind::mamba2)) == 4 * (8 * 16 * 16 * 4 + 3 * (8 * 16 + 2 * 4 * 16) * 2));
  model.latent =
      LatentDimensions{.query_rank = 24, .kv_rank = 16, .plain_dim = 8, .rotated_dim = 8, .value_dim = 16};
  model.layer_pattern = {"own"};
  model.blocks = {block(BlockKind::latent)};
  CHECK(cached_bytes(model, 1000).value == 8 * 1000 * (16 + 8) * 2);
  model.blocks = {block(BlockKind::sparse_latent)};  // and keys of the indexer, 16 x 1 B with a scale of 4 B
  CHECK(cached_bytes(model, 1000).value == 8 * 1000 * ((16 + 8) * 2 + 16 + 4));
}

}  // namespace c3::models_blocks_test
