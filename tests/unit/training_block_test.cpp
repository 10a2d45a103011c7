// Kernels of a layer, of the embedding and of the head: shapes, flops, parameters and what is kept.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <vector>

#include "configs/presets/preset_store.hpp"
#include "gpu/kernels/attention/attention_shape.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/operator_table.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"
#include "tests/support/near.hpp"
#include "tests/support/print_units.hpp"
#include "tests/unit/training_setups.hpp"

namespace c3::training_block_test {

using namespace literals;
using namespace test;

namespace {

using Shape = std::array<std::int64_t, 4>;  // batch, m, n, k

std::vector<Shape> products(const std::vector<PartKernel>& kernels) {
  std::vector<Shape> shapes;
  for (const PartKernel& kernel : kernels) {
    if (const auto* gemm = kernel.op.as<GemmShape>())
      shapes.push_back({gemm->batch, gemm->m, gemm->n, gemm->k});
  }
  return shapes;
}

double flops(const std::vector<PartKernel>& kernels) {
  double sum = 0.0;
  for (const PartKernel& kernel : kernels)
    sum += matrix_flops(kernel.op).value;
  return sum;
}

Bytes kept(const BlockKernels& block, const std::string& part = "") {
  Bytes sum;
  for (const PartKernel& kernel : block.forward) {
    if (name_of(kernel.part).starts_with(part)) sum += kernel.kept;
  }
  return sum;
}

Bytes gradients(const BlockKernels& block) {
  Bytes sum;
  for (const PartKernel& kernel : block.backward)
    sum += kernel.gradient;
  return sum;
}

std::vector<std::string> part_names(const std::vector<PartKernel>& kernels) {
  std::vector<std::string> names;
  for (const PartKernel& kernel : kernels) {
    if (names.empty() || names.back() != name_of(kernel.part)) names.push_back(name_of(kernel.part));
  }
  return names;
}

std::int64_t of_all_ranks(const TrainingSetup& setup) {
  const std::int64_t layers = setup.model.layers * layer_kernels(setup).parameters;
  return setup.tensor_parallel *
         (layers + embedding_kernels(setup).parameters + head_kernels(setup).parameters);
}

/// Weights that every tensor-parallel rank has whole: norms, tables of positions, biases that follow a sum.
std::int64_t replicated(const ModelDimensions& model) {
  const std::int64_t norm = (model.norm == Norm::layernorm ? 2 : 1) * model.hidden;
  const std::int64_t biases = model.biases ? 2 * model.hidden : 0;
  return model.layers * (2 * norm + biases) + norm + (model.positions + model.token_types) * model.hidden;
}

constexpr std::int64_t kTokens = 256;

}  // namespace

TEST_CASE("a gated layer with grouped heads: seven products forward, two of each backward") {
  for (const int ranks : {1, 2, 4}) {
    CAPTURE(ranks);
    TrainingSetup setup = llama_setup();
    setup.tensor_parallel = ranks;
    const StepBlock layer = layer_kernels(setup);
    const std::int64_t q = 512 / ranks, kv = 256 / ranks, f = 1536 / ranks;
    CHECK(products(layer.forward) == std::vector<Shape>{{1, kTokens, q, 512},
                                                        {1, kTokens, kv, 512},
                                                        {1, kTokens, kv, 512},
                                                        {1, kTokens, 512, q},
                                                        {1, kTokens, f, 512},
                                                        {1, kTokens, f, 512},
                                                        {1, kTokens, 512, f}});
    // Gradients of input [tokens, inputs] and of weight [inputs, outputs], last part first.
    const std::vector<Shape> backward = products(layer.backward);
    CHECK(backward.size() == 14);
    CHECK(backward[0] == Shape{1, kTokens, f, 512});
    CHECK(backward[1] == Shape{1, f, 512, kTokens});
    CHECK(backward[12] == Shape{1, kTokens, 512, kv});
    CHECK(backward[13] == Shape{1, 512, kv, kTokens});
    const auto heads = [](const PartKernel& kernel) { return kernel.op.as<AttentionShape>(); };
    const auto attention = std::ranges::find_if(layer.forward, heads);
    REQUIRE(attention != layer.forward.end());
    CHECK(heads(*attention)->heads == 8 / ranks);
    CHECK(heads(*attention)->kv_heads == 8 / ranks);  // each key was copied for its query heads
    CHECK(heads(*attention)->batch == 2);
    CHECK(heads(*attention)->queries == 128);
    CHECK(heads(*attention)->causal);
    CHECK(heads(*attention)->kernel == AttentionKernel::flash2);
  }
}

TEST_CASE("a framework's attention is the kernel that it names") {
  const auto kernel_of = [](AttentionCode code) {
    TrainingSetup setup = llama_setup();
    setup.framework.attention = code;
    const StepBlock layer = layer_kernels(setup);
    for (const PartKernel& kernel : layer.forward) {
      if (const auto* shape = kernel.op.as<AttentionShape>()) return shape->kernel;
    }
    throw std::logic_error("no attention");
  };
  CHECK(kernel_of(AttentionCode::newest) == AttentionKernel::newest);
  CHECK(kernel_of(AttentionCode::flash2) == AttentionKernel::flash2);
  CHECK(kernel_of(AttentionCode::flash1) == AttentionKernel::flash1);
  CHECK(kernel_of(AttentionCode::triton) == AttentionKernel::triton);
  CHECK(kernel_of(AttentionCode::cudnn) == AttentionKernel::cudnn);
}

TEST_CASE("a layer of Megatron-LM: six products forward, two of them batched, bias gradients are sums") {
  for (const int ranks : {1, 2, 4}) {
    CAPTURE(ranks);
    TrainingSetup setup = gpt_setup();
    setup.tensor_parallel = ranks;
    const StepBlock layer = layer_kernels(setup);
    const std::int64_t q = 512 / ranks, batch = 2 * 8 / ranks;
    CHECK(products(layer.forward) == std::vector<Shape>{{1, kTokens, 3 * q, 512},
                                                        {batch, 128, 128, 64},
                                                        {batch, 128, 64, 128},
                                                        {1, kTokens, 512, q},
                                                        {1, kTokens, 4 * q, 512},
                                                        {1, kTokens, 512, 4 * q}});
    CHECK(products(layer.backward).size() == 12);
    const auto sums = std::ranges::count_if(layer.backward, [](const PartKernel& kernel) {
      const auto* shape = kernel.op.as<VectorShape>();
      return shape != nullptr && shape->chain.first() == VectorOp::reduce;
    });
    CHECK(sums == 4 + 2);  // of biases, and of two norms
  }
}

TEST_CASE(
    "around Megatron-LM's layers are the kernels of a recorded step, with masks where ranks share words") {
  // Six for the batch; of shared words seven more, one of them on rows, whose gradient is masked too. The loss:
  // a cast, five passes over the logits and twenty kernels on numbers of tokens; backward ten, a pass and a
  // cast.
  TrainingSetup setup = gpt_setup();
  setup.framework.cross_entropy = CrossEntropy::separate;
  setup.framework.loss_dtype = DType::fp32;
  const StepBlock alone = embedding_kernels(setup);
  const auto of_loss = [](const std::vector<PartKernel>& kernels) {
    return std::ranges::count_if(kernels,
                                 [](const PartKernel& kernel) { return kernel.part.block == BlockId::loss; });
  };
  CHECK(of_loss(head_kernels(setup).forward) == 1 + 5 + 20);
  CHECK(of_loss(head_kernels(setup).backward) == 10 + 1 + 1);
  setup.tensor_parallel = 2;
  CHECK(embedding_kernels(setup).forward.size() == alone.forward.size() + 7);
  CHECK(embedding_kernels(setup).backward.size() == alone.backward.size() + 1);
}

TEST_CASE("separate projections are the products of joined ones, split") {
  TrainingSetup setup = llama_setup();
  const StepBlock separate = layer_kernels(setup);
  setup.framework.separate_projections = false;
  const StepBlock joined = layer_kernels(setup);
  CHECK(products(joined.forward).size() == 4);
  CHECK(flops(joined.forward) == near(flops(separate.forward)));
  CHECK(flops(joined.backward) == near(flops(separate.backward)));
  CHECK(joined.parameters == separate.parameters);
  CHECK(kept(joined) == kept(separate));
}

TEST_CASE("products forward are 2 flops for each weight and token, backward twice that, attention beside") {
  // Weights of a layer: 512 (512 + 2 x 256) + 512^2 + 3 x 512 x 1536; causal attention: 2 products of 64 flops
  // x 2 for each of 128 x 129 / 2 pairs of 2 sequences and 8 heads, backward 5. Norms have no products.
  for (const int ranks : {1, 2, 4}) {
    CAPTURE(ranks);
    TrainingSetup setup = llama_setup();
    setup.tensor_parallel = ranks;
    const StepBlock layer = layer_kernels(setup);
    const double weights = 512.0 * (512 + 2 * 256) + 512 * 512 + 3 * 512 * 1536;
    const double pairs = 2 * 8 * 128.0 * 129 / 2;
    CHECK(flops(layer.forward) == near((2 * kTokens * weights + 2 * 2 * 64 * pairs) / ranks));
    CHECK(flops(layer.backward) == near((4 * kTokens * weights + 5 * 2 * 64 * pairs) / ranks));
    const double head = 512.0 * 1000;
    CHECK(flops(head_kernels(setup).forward) == near(2 * kTokens * head / ranks));
    CHECK(flops(head_kernels(setup).backward) == near(4 * kTokens * head / ranks));
    CHECK(flops(embedding_kernels(setup).forward) == 0.0);
  }
}

TEST_CASE("a step's flops: model flops are three forward passes, hardware flops what is run") {
  // Flops of a layer as above; if it is recomputed whole, its forward pass but for its last product runs twice.
  TrainingSetup setup = llama_setup(3);
  const double layer = flops(layer_kernels(setup).forward);
  const double head = flops(head_kernels(setup).forward);
  const double backward = flops(layer_kernels(setup).backward);
  const double down = 2.0 * kTokens * 512 * 1536;
  const auto facts = [&] { return training_step(setup, 4).facts; };
  CHECK(facts().model_flops().value == near(3 * (3 * layer + head)));
  CHECK(facts().hardware_flops().value == near(3 * (layer + backward) + 3 * head));
  setup.recompute = Recompute::full;
  CHECK(facts().model_flops().value == near(3 * (3 * layer + head)));
  CHECK(facts().hardware_flops().value == near(3 * (2 * layer - down + backward) + 3 * head));
  setup.micro_batches = 2;
  setup.recompute_every = 2;  // one of three layers
  CHECK(facts().hardware_flops().value == near(2 * (3 * (layer + backward) + layer - down + 3 * head)));
  CHECK(facts().tokens == 2 * 4 * kTokens);
}

TEST_CASE("PyTorch's selective recomputation runs every second product again, and not attention") {
  // Kept: q, v, gate and down; again: k, out and up.
  TrainingSetup setup = llama_setup(1);
  const double none = training_step(setup, 4).facts.hardware_flops().value;
  setup.recompute = Recompute::selective;
  const double again = training_step(setup, 4).facts.hardware_flops().value - none;
  CHECK(again == near(2.0 * kTokens * 512 * (256 + 512 + 1536)));
}

TEST_CASE("parameters of all blocks are the model's, gradients are of all of them") {
  struct Case {
    const char* preset;
    std::int64_t parameters;
  };
  for (const Case& published : {Case{"llama-3-8b", 8'030'261'248}, Case{"gpt3-175b", 0},
                                Case{"mistral-7b", 7'248'023'552}, Case{"gpt2-xl", 1'557'611'200}}) {
    CAPTURE(published.preset);
    TrainingSetup setup{.model = load_model(published.preset), .framework = eager_framework(), .sequence = 128};
    if (published.parameters > 0) CHECK(of_all_ranks(setup) == published.parameters);
    CHECK(of_all_ranks(setup) == parameters(transformer(setup.model)));
    CHECK(gradients(layer_kernels(setup)) == Bytes{2.0} * static_cast<double>(layer_kernels(setup).parameters));
    const std::int64_t tied = setup.model.tied_embedding ? setup.model.vocabulary * setup.model.hidden : 0;
    CHECK(gradients(embedding_kernels(setup)) + gradients(head_kernels(setup)) ==
          Bytes{2.0} *
              static_cast<double>(embedding_kernels(setup).parameters + head_kernels(setup).parameters + tied));
    // A rank has its share of products and words, of the latter rounded up, and the rest whole.
    for (const int ranks : {2, 4, 8}) {
      const ModelDimensions& model = setup.model;
      if (model.heads % ranks != 0) continue;
      setup.tensor_parallel = ranks;
      const std::int64_t words = (model.vocabulary + ranks - 1) / ranks * ranks - model.vocabulary;
      const std::int64_t tables = model.tied_embedding ? 1 : 2;
      CHECK(of_all_ranks(setup) ==
            parameters(transformer(model)) + (ranks - 1) * replicated(model) + tables * words * model.hidden);
    }
    setup.tensor_parallel = 1;
  }
}

TEST_CASE("a layer of Megatron-LM keeps s b h (34 + 5 a s / h) bytes, equation 1 of arXiv 2205.05198") {
  // Units of s b h bytes: norms 4 in and 4 out, queries, keys and values 6, softmax 2 a s / h, its dropout's
  // output 2 a s / h and mask a s / h, input of the product after attention 2, two masks 2, gelu's input 8 and
  // output 8.
  TrainingSetup setup = gpt_setup();
  const double sbh = 2.0 * 128 * 512;
  const double scores = 5.0 * 8 * 128 / 512;
  CHECK(kept(layer_kernels(setup)).value == near(sbh * (34 + scores)));
  CHECK(kept(layer_kernels(setup), "attn.softmax").value == near(sbh * scores));
  for (const int ranks : {2, 4, 8}) {
    CAPTURE(ranks);
    setup.tensor_parallel = ranks;
    setup.sequence_parallel = false;
    CHECK(kept(layer_kernels(setup)).value == near(sbh * (10 + (24 + scores) / ranks)));  // equation 2
    setup.sequence_parallel = true;
    CHECK(kept(layer_kernels(setup)).value == near(sbh * (34 + scores) / ranks));  // equation 4
  }
}

TEST_CASE(
    "without dropout four bytes of masks and of what they write go, with one kernel for attention the scores") {
  // Dropout of scores: 3 a s / h, of blocks: 2. Attention in one kernel: no softmax, 4 bytes for each row of a
  // head.
  TrainingSetup setup = gpt_setup();
  const double sbh = 2.0 * 128 * 512;
  setup.framework.dropout = false;
  CHECK(kept(layer_kernels(setup)).value == near(sbh * (32 + 2.0 * 8 * 128 / 512)));
  setup.framework.attention = AttentionCode::newest;
  CHECK(kept(layer_kernels(setup)).value == near(sbh * 32 + 4.0 * 2 * 128 * 8));
}

TEST_CASE("a gated layer in eager code keeps what autograd saves") {
  // Bytes a token. A norm: its input in fp32, what it is scaled to, and its output; rotated queries; keys and
  // values once for each query head; attention's output and 4 bytes a head; gate, up, their product and silu.
  const StepBlock layer = layer_kernels(llama_setup());
  const double norm = (4 + 2 + 2) * 512;
  CHECK(kept(layer, "attn.norm").value == near(kTokens * norm));
  CHECK(kept(layer, "attn.qkv") == Bytes{});
  CHECK(kept(layer, "attn.rope").value == near(kTokens * 3 * 2.0 * 512));
  CHECK(kept(layer, "attn.kernel").value == near(kTokens * (2.0 * 512 + 4 * 8)));
  CHECK(kept(layer, "mlp").value == near(kTokens * (norm + 4 * 2.0 * 1536)));
  CHECK(kept(layer).value == near(kTokens * (2 * norm + 8.0 * 512 + 4 * 8 + 8.0 * 1536)));
}

TEST_CASE("in fp32 nothing is cast, and as much is kept in twice the bytes") {
  // The norm's input is already in fp32: (4 + 4 + 4) bytes and not (4 + 2 + 2).
  TrainingSetup setup = llama_setup();
  setup.dtype = DType::fp32;
  const StepBlock layer = layer_kernels(setup);
  CHECK(kept(layer).value == near(kTokens * (2 * 12.0 * 512 + 16.0 * 512 + 4 * 8 + 16.0 * 1536)));
  CHECK(std::ranges::none_of(layer.forward, [](const PartKernel& kernel) {
    const auto* shape = kernel.op.as<VectorShape>();
    return shape != nullptr && shape->chain.first() == VectorOp::copy &&
           kernel.part != PartId{BlockId::self_attention, Role::rope};
  }));
}

TEST_CASE(
    "with sequence parallelism PyTorch keeps what it gathered, Megatron-LM a part that it gathers again") {
  TrainingSetup setup = llama_setup();
  setup.tensor_parallel = 4;
  setup.sequence_parallel = true;
  const double token = 512;
  CHECK(kept(layer_kernels(setup), "mlp.norm").value == near(kTokens * ((4 + 2) * token / 4 + 2 * token)));
  setup.framework.kernels = KernelStyle::megatron;
  CHECK(kept(layer_kernels(setup), "mlp.norm").value == near(kTokens * (2 + 2) * token / 4));
}

TEST_CASE("backward, parts come in reverse order") {
  for (const TrainingSetup& setup : {llama_setup(), gpt_setup()}) {
    for (const StepBlock& block : {layer_kernels(setup), embedding_kernels(setup), head_kernels(setup)}) {
      std::vector<std::string> forward = part_names(block.forward);
      std::ranges::reverse(forward);
      CHECK(part_names(block.backward) == forward);
    }
  }
}

TEST_CASE("compiled code: one kernel for a norm and the sum before it, and for an activation and its product") {
  TrainingSetup setup = llama_setup();
  const std::size_t eager = layer_kernels(setup).forward.size();
  setup.framework.kernels = KernelStyle::compiled;
  const StepBlock layer = layer_kernels(setup);
  const std::vector<std::string> forward = part_names(layer.forward);
  CHECK(std::ranges::find(forward, "attn.residual") == forward.end());
  // Norms 2 x 6 kernels fewer, a sum and an activation less.
  CHECK(layer.forward.size() == eager - 2 * 7 - 2);
  // Two norms' inputs and outputs, rotated queries, keys and values, attention, gate and up.
  CHECK(kept(layer).value == near(kTokens * (8.0 * 512 + 8.0 * 512 + 4 * 8 + 4.0 * 1536)));
}

TEST_CASE("a layer that is computed again holds all that it would have kept, its input once") {
  // Units of s b h bytes, when gelu's gradient is made: 44 kept by the layer but for the last mask, 1; the
  // embedding's mask, 1; the gradient that runs past the block, 2; those of gelu's output and input, 8 each.
  // What attention alone makes again, 10, is not there yet.
  TrainingSetup setup = gpt_setup(1);
  setup.model.vocabulary = 16;
  setup.micro_batch = 64;
  const auto activations = [&](Recompute recompute) {
    setup.recompute = recompute;
    return training_step(setup, 4).facts.memory.of(MemoryClass::activations).value / (64.0 * 128 * 512);
  };
  CHECK(activations(Recompute::none) == 44 - 1 + 1 + 2 + 8 + 8);
  CHECK(activations(Recompute::full) == 62);
  CHECK(activations(Recompute::attention) == 62 - 10);
}

}  // namespace c3::training_block_test
