// Kernels of experts and of latent attention under training frameworks, in closed form.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "gpu/kernels/attention/attention_shape.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/operator_table.hpp"
#include "tests/support/near.hpp"
#include "tests/support/print_units.hpp"
#include "tests/unit/training_setups.hpp"
#include "workloads/models/training_kernels.hpp"

namespace c3::models_experts_test {

using namespace test;

namespace {

constexpr std::int64_t kMoeSequences = 2, kMoeLength = 64, kMoeTokens = kMoeSequences * kMoeLength;
constexpr std::int64_t kMoeHidden = 512, kMoeWidth = 96, kMoeExperts = 8, kMoeChosen = 2;

/// Eight experts of width 96, two of them a token.
ModelDimensions with_experts() {
  ModelDimensions model = llama_like(2);
  model.experts = ExpertDimensions{.experts = kMoeExperts, .per_token = kMoeChosen, .width = kMoeWidth};
  return model;
}

TokenBatch batch(RoutedTokens routed = {}) {
  return {.sequences = kMoeSequences,
          .length = kMoeLength,
          .between = kMoeTokens,
          .dtype = DType::bf16,
          .routed = routed};
}

Framework framework() {
  Framework megatron = megatron_framework();
  megatron.attention = AttentionCode::flash2;
  megatron.dropout = false;
  return megatron;
}

BlockKernels layer_of_model(const ModelDimensions& model, const TokenBatch& tokens,
                            const Framework& launched_by = framework()) {
  return lower(layer_of(transformer(model).stacks.front(), 0), launched_by, tokens);
}

/// Kernels of the part \p name in one pass.
std::vector<PartKernel> kernels_of(const std::vector<PartKernel>& kernels, const std::string& name) {
  std::vector<PartKernel> found;
  std::ranges::copy_if(kernels, std::back_inserter(found),
                       [&](const PartKernel& kernel) { return name_of(kernel.part) == name; });
  return found;
}

double moe_flops(const std::vector<PartKernel>& kernels) {
  double sum = 0.0;
  for (const PartKernel& kernel : kernels)
    sum += matrix_flops(kernel.op).value;
  return sum;
}

}  // namespace

TEST_CASE("products of experts are one launch of as many products, each of its expert's rows") {
  const BlockKernels layer = layer_of_model(with_experts(), batch());
  const auto product = kernels_of(layer.forward, "experts.gate_up");
  REQUIRE(product.size() == 1);
  // 128 tokens, two experts each: 256 rows, 32 for each of eight experts.
  CHECK(*product.front().op.as<GemmShape>() ==
        GemmShape{.m = 32, .n = 2 * kMoeWidth, .k = kMoeHidden, .dtype = DType::bf16, .batch = kMoeExperts});
  CHECK(product.front().launches == 1);
  const auto backward = kernels_of(layer.backward, "experts.gate_up");
  REQUIRE(backward.size() == 2);
  CHECK(backward[0].op.as<GemmShape>()->batch == kMoeExperts);
  CHECK(backward[1].gradient == Bytes{2.0 * kMoeExperts * kMoeHidden * 2 * kMoeWidth});
  // Three matrices of every row, and the router's product of every token; backward twice as much.
  const double experts = 2.0 * kMoeTokens * kMoeChosen * 3 * kMoeHidden * kMoeWidth;
  const double router = 2.0 * kMoeTokens * kMoeHidden * kMoeExperts;
  const ModelDimensions dense = llama_like(2);
  const double others =
      moe_flops(layer_of_model(dense, batch()).forward) - 2.0 * kMoeTokens * 3 * kMoeHidden * 1536;
  CHECK(moe_flops(layer.forward) == near(others + experts + router, 1e-12));
}

TEST_CASE("experts that are launched apart cost the host a launch each") {
  Framework one_by_one = framework();
  one_by_one.experts_apart = true;
  const BlockKernels layer = layer_of_model(with_experts(), batch(), one_by_one);
  CHECK(kernels_of(layer.forward, "experts.down").front().launches == kMoeExperts);
  for (const PartKernel& kernel : kernels_of(layer.backward, "experts.down"))
    CHECK(kernel.launches == kMoeExperts);
  CHECK(kernels_of(layer.forward, "attn.qkv").front().launches == 1);
}

TEST_CASE("rows of each expert are filled up to a multiple") {
  // 250 rows are 31.25 for each expert: 32 without a multiple, 48 with one of 16 x 3.
  const auto rows = [](std::int64_t multiple) {
    const RoutedTokens routed{.sent = 256, .received = 250, .rows = 250, .multiple_of = multiple};
    return kernels_of(layer_of_model(with_experts(), batch(routed)).forward, "experts.down")
        .front()
        .op.as<GemmShape>()
        ->m;
  };
  CHECK(rows(1) == 32);
  CHECK(rows(48) == 48);
  CHECK(rows(16) == 32);
}

TEST_CASE("an expert layer keeps scores, the rows of its experts and what these make of them") {
  const BlockKernels layer = layer_of_model(with_experts(), batch());
  const auto kept = [&](const std::string& name) {
    Bytes sum;
    for (const PartKernel& kernel : kernels_of(layer.forward, name))
      sum += kernel.kept;
    return sum;
  };
  constexpr double kRows = kMoeTokens * kMoeChosen;
  CHECK(kept("mlp.router") == Bytes{4.0 * kMoeTokens * kMoeExperts});
  CHECK(kept("experts.gate_up") == Bytes{2.0 * kRows * (kMoeHidden + 2 * kMoeWidth)});
  CHECK(kept("experts.activation") == Bytes{2.0 * kRows * kMoeWidth});
  for (const char* moved : {"experts.dispatch", "experts.arrange", "experts.restore", "experts.combine"})
    CHECK(kept(moved) == Bytes{});
}

TEST_CASE("tokens are copied once for each of their experts before they leave, or where they arrive") {
  const auto written = [](const std::vector<PartKernel>& kernels, const std::string& name) {
    const auto found = kernels_of(kernels, name);
    REQUIRE(found.size() == 1);
    return found.front().output.value();
  };
  const double token = 2.0 * kMoeHidden;
  const BlockKernels copied = layer_of_model(with_experts(), batch());
  CHECK(written(copied.forward, "experts.dispatch") == Bytes{token * kMoeTokens * kMoeChosen});
  CHECK(written(copied.forward, "experts.combine") == Bytes{token * kMoeTokens});
  CHECK(written(copied.backward, "experts.dispatch") == Bytes{token * kMoeTokens});
  // A token that comes once for all experts of a rank is copied there.
  const RoutedTokens once{.dispatch = Dispatch::deepep, .sent = 256, .received = 200, .rows = 256};
  const BlockKernels later = layer_of_model(with_experts(), batch(once));
  CHECK(written(later.forward, "experts.dispatch") == Bytes{});
  CHECK(written(later.forward, "experts.arrange") == Bytes{token * 256});
  CHECK(written(later.forward, "experts.restore") == Bytes{token * 200});
  CHECK(written(later.backward, "experts.arrange") == Bytes{token * 200});
}

TEST_CASE("latent attention has the flops of its projections and of keys that are wider than values") {
  ModelDimensions model = llama_like(1);
  model.heads = model.kv_heads = 4;
  model.latent =
      LatentDimensions{.query_rank = 96, .kv_rank = 64, .plain_dim = 32, .rotated_dim = 16, .value_dim = 24};
  const BlockKernels layer = layer_of_model(model, batch());
  const double h = kMoeHidden;
  const double weights =
      h * 96 + h * (64 + 16) + 96 * 4 * (32 + 16) + 64 * 4 * (32 + 24) + 4 * 24 * h + 3 * h * 1536;
  // A causal token sees half of the 64 and one: (64 + 1) / 2 on average.
  const double pairs = kMoeTokens * (kMoeLength + 1) / 2.0 * 4;
  CHECK(moe_flops(layer.forward) == near(2 * kMoeTokens * weights + 2 * pairs * (48 + 24), 1e-12));
  CHECK(moe_flops(layer.backward) == near(4 * kMoeTokens * weights + 2 * pairs * (3 * 48 + 2 * 24), 1e-12));
  const auto attention = kernels_of(layer.forward, "attn.kernel");
  REQUIRE(attention.size() == 1);
  CHECK(attention.front().op.as<AttentionShape>()->value_dim == 24);
  CHECK(attention.front().kept == Bytes{2.0 * kMoeTokens * 4 * 24 + 4.0 * kMoeTokens * 4});
  Bytes rotated;  // queries, keys and values
  for (const PartKernel& kernel : kernels_of(layer.forward, "attn.rope"))
    rotated += kernel.kept;
  CHECK(rotated == Bytes{2.0 * kMoeTokens * 4 * (48 + 48 + 24)});
}

TEST_CASE("shared experts run all tokens, and their sum is added to that of the others") {
  ModelDimensions model = with_experts();
  model.experts->shared_width = 160;
  const BlockKernels layer = layer_of_model(model, batch());
  const auto product = kernels_of(layer.forward, "shared.gate_up");
  REQUIRE(product.size() == 1);
  CHECK(*product.front().op.as<GemmShape>() ==
        GemmShape{.m = kMoeTokens, .n = 2 * 160, .k = kMoeHidden, .dtype = DType::bf16});
  CHECK(moe_flops(kernels_of(layer.forward, "shared.down")) == 2.0 * kMoeTokens * 160 * kMoeHidden);
  CHECK(kernels_of(layer.forward, "shared.down").size() == 2);      // the sum of outputs
  CHECK(kernels_of(layer.backward, "shared.gate_up").size() == 3);  // and of gradients
}

}  // namespace c3::models_experts_test
