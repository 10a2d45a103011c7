// One description of each model: its parts, weights and products, whoever lowers it to kernels.

#include "workloads/models/transformer.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "configs/presets/preset_store.hpp"
#include "gpu/kernels/attention/attention_shape.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/operator_table.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"
#include "studies/kernels/eager/step_operators.hpp"
#include "tests/support/near.hpp"
#include "tests/unit/training_setups.hpp"
#include "workloads/models/styles/style.hpp"
#include "workloads/models/training_kernels.hpp"

namespace c3::models_transformer_test {

using namespace test;

namespace {

/// Four layers of width 32 with heads of another width, a feed-forward of 48 and 101 words.
ModelDimensions dense() {
  return {.name = "dense",
          .hidden = 32,
          .ffn = 48,
          .heads = 4,
          .kv_heads = 4,
          .layers = 4,
          .own_head_dim = 16,
          .vocabulary = 101,
          .positions = 64,
          .norm = Norm::layernorm,
          .biases = true,
          .activation = Activation::gelu,
          .family = EagerFamily::gpt2};
}

ModelDimensions encoder_decoder() {
  ModelDimensions model = dense();
  model.name = "encoder-decoder";
  model.positions = 0;
  model.relative_buckets = 8;
  model.structure = Structure::encoder_decoder;
  model.norm = Norm::rmsnorm;
  model.biases = false;
  model.family = EagerFamily::t5;
  return model;
}

/// Experts in every second layer.
ModelDimensions with_experts(ModelDimensions model) {
  model.name += " with experts";
  model.experts = ExpertDimensions{.experts = 3, .capacity = 8, .interval = 2};
  return model;
}

std::vector<ModelDimensions> all_structures() {
  return {dense(), encoder_decoder(), with_experts(dense()), with_experts(encoder_decoder())};
}

constexpr std::int64_t kSequences = 2;
constexpr std::int64_t kLength = 16;
constexpr StepSetup kStep{.sequences = kSequences, .length = kLength};
constexpr TokenBatch kBatch{
    .sequences = kSequences, .length = kLength, .between = kSequences * kLength, .dtype = DType::bf16};

double flops(const std::vector<PartKernel>& kernels) {
  double sum = 0.0;
  for (const PartKernel& kernel : kernels)
    sum += static_cast<double>(kernel.count) * matrix_flops(kernel.op).value;
  return sum;
}

/// Flops of one attention block: 2 for each token and weight of its projections, and two products of every head
/// and pair of tokens.
double attention_flops(const ModelDimensions& model) {
  const double tokens = kSequences * kLength;
  const auto width = static_cast<double>(model.attention_width());
  const auto hidden = static_cast<double>(model.hidden);
  return 2 * tokens * 4 * width * hidden + 2 * 2 * tokens * kLength * width;
}

/// Flops of one feed-forward block through which so many tokens run.
double feed_forward_flops(const ModelDimensions& model, double tokens) {
  return 2 * tokens * 2 * static_cast<double>(model.hidden) * static_cast<double>(model.ffn);
}

double layers_flops(const ModelDimensions& model) {
  const double tokens = kSequences * kLength;
  const bool has_two_stacks = model.structure == Structure::encoder_decoder;
  const double stacks = has_two_stacks ? 2 : 1;
  const double attentions = (has_two_stacks ? 3 : 1) * static_cast<double>(model.layers);
  const double sparse = model.experts ? static_cast<double>(model.layers) / 2 : 0.0;
  double sum = attentions * attention_flops(model) +
               stacks * (static_cast<double>(model.layers) - sparse) * feed_forward_flops(model, tokens);
  if (!model.experts) return sum;
  // Each of three experts takes its share of 32 tokens, rounded up: 11, below the capacity of 2 x 8.
  const double router = 2 * tokens * static_cast<double>(model.hidden) * 3;
  return sum + stacks * sparse * (router + 3 * feed_forward_flops(model, 11));
}

/// Weights in closed form: of attention 4 projections, of a feed-forward block 2, biases of all outputs.
std::int64_t closed_form_parameters(const ModelDimensions& model) {
  const bool has_two_stacks = model.structure == Structure::encoder_decoder;
  const std::int64_t stacks = has_two_stacks ? 2 : 1;
  const std::int64_t h = model.hidden, f = model.ffn, w = model.attention_width();
  const std::int64_t norm = model.norm == Norm::layernorm ? 2 * h : h;
  const std::int64_t attention = 4 * w * h + (model.biases ? 3 * w + h : 0) + norm;
  const std::int64_t ffn = 2 * h * f + (model.biases ? f + h : 0);
  const std::int64_t sparse = model.experts ? model.layers / 2 : 0;
  const std::int64_t feed_forwards =
      model.layers * norm + (model.layers - sparse) * ffn + sparse * (3 * h + 3 * ffn);
  return (model.vocabulary + model.positions) * h + (has_two_stacks ? 3 : 1) * model.layers * attention +
         stacks * (feed_forwards + norm + model.relative_buckets * model.heads);
}

std::vector<std::string> names_of(const std::vector<ModelPart>& parts) {
  std::vector<std::string> names;
  for (const ModelPart& part : parts)
    names.push_back(name_of(part.id));
  return names;
}

/// Compiled kernels with attention by products, whose flops do not depend on a mask.
Framework framework_with(KernelStyle style) {
  Framework framework = megatron_framework();
  framework.kernels = style;
  return framework;
}

}  // namespace

TEST_CASE("parameters by part sum to a model's: dense, encoder-decoder, experts") {
  for (const ModelDimensions& dimensions : all_structures()) {
    CAPTURE(dimensions.name);
    const Model model = transformer(dimensions);
    CHECK(parameters(model) == closed_form_parameters(dimensions));
    std::int64_t by_part = parameters(model.head);
    for (const Stack& stack : model.stacks) {
      by_part += parameters(stack.start) + parameters(stack.end);
      for (std::int64_t layer = 0; layer < stack.layers; ++layer) {
        for (const ModelPart& part : layer_of(stack, layer))
          by_part += parameters(part);
      }
    }
    CHECK(by_part == parameters(model));
  }
}

TEST_CASE(
    "a layer is the blocks that name it: experts stand in every second layer, in place of a feed-forward") {
  const Model model = transformer(with_experts(encoder_decoder()));
  REQUIRE(model.stacks.size() == 2);
  CHECK(names_of(layer_of(model.stacks[0], 0)) ==
        std::vector<std::string>{"attn.norm", "attn.qkv", "attn.attention", "attn.out", "attn.residual",
                                 "mlp.norm", "mlp.gate_up", "mlp.activation", "mlp.down", "mlp.residual"});
  CHECK(names_of(layer_of(model.stacks[1], 1)) ==
        std::vector<std::string>{"attn.norm", "attn.qkv", "attn.attention", "attn.out", "attn.residual",
                                 "cross.norm", "cross.qkv", "cross.attention", "cross.out", "cross.residual",
                                 "mlp.norm", "mlp.router", "mlp.experts", "mlp.residual"});
  CHECK(names_of(model.stacks[1].end) == std::vector<std::string>{"final.norm"});
  CHECK(names_of(model.head) == std::vector<std::string>{"head.logits", "loss"});
  const std::vector<ModelPart> decoder = layer_of(model.stacks[1], 0);
  const auto* const own = std::get_if<parts::Attention>(&decoder[2].kind);
  const auto* const crossed = std::get_if<parts::Attention>(&decoder[7].kind);
  REQUIRE(own != nullptr);
  REQUIRE(crossed != nullptr);
  CHECK(own->is_causal);
  CHECK_FALSE(crossed->is_causal);
}

TEST_CASE("the products of a step of eager HuggingFace code have the model's flops in closed form") {
  for (const ModelDimensions& model : all_structures()) {
    CAPTURE(model.name);
    const double head = 2.0 * kSequences * kLength * 32 * 101;
    StepSetup setup = kStep;
    setup.training = true;
    const StepOperators step = step_operators(model, setup);
    CHECK(flops(step.forward) == near(layers_flops(model) + head, 1e-12));
    CHECK(flops(step.backward) == near(2 * flops(step.forward), 1e-12));
  }
}

TEST_CASE("training frameworks launch products of the same flops for the layers of the same description") {
  for (const KernelStyle style : kKernelStyles) {
    for (ModelDimensions dimensions : {dense(), encoder_decoder()}) {
      CAPTURE(name_of(style));
      CAPTURE(dimensions.name);
      dimensions.relative_buckets = 0;  // rotated positions instead
      const Model model = transformer(dimensions);
      double forward = 0.0, backward = 0.0;
      for (const Stack& stack : model.stacks) {
        for (std::int64_t layer = 0; layer < stack.layers; ++layer) {
          const BlockKernels kernels = lower(layer_of(stack, layer), framework_with(style), kBatch);
          forward += flops(kernels.forward);
          backward += flops(kernels.backward);
        }
      }
      CHECK(forward == near(layers_flops(dimensions), 1e-12));
      CHECK(backward == near(2 * forward, 1e-12));
    }
  }
}

TEST_CASE("a training step refuses what it has no schedule or kernels for, by name") {
  TrainingSetup setup = gpt_setup();
  setup.model = encoder_decoder();
  CHECK_THROWS_WITH_AS(training_step(setup, 2), "encoder-decoder models are not supported in training steps",
                       std::invalid_argument);
  const Stack biased = transformer(encoder_decoder()).stacks.front();
  CHECK_THROWS_WITH_AS(lower(biased.start, setup.framework, kBatch),
                       "the framework has no kernels for 'attn.bias'", std::invalid_argument);
  CHECK_THROWS_WITH_AS(lower(layer_of(biased, 0), setup.framework, kBatch),
                       "the framework has no kernels for 'attn.attention'", std::invalid_argument);
}

TEST_CASE("eager HuggingFace code has no kernels for rotated positions, which no family of it has") {
  ModelDimensions model = dense();
  model.positions = 0;
  CHECK_THROWS_WITH_AS(step_operators(model, kStep), "the framework has no kernels for 'attn.rope'",
                       std::invalid_argument);
}

TEST_CASE("every part has a name of its own") {
  std::set<std::string> names;
  int count = 0;
  for (int block = 0; block <= static_cast<int>(BlockId::loss); ++block) {
    for (int role = 0; role <= static_cast<int>(Role::logits); ++role, ++count)
      names.insert(name_of(PartId{static_cast<BlockId>(block), static_cast<Role>(role)}));
  }
  CHECK(static_cast<int>(names.size()) == count);
  CHECK(names.contains("attn.qkv"));
  CHECK(names.contains("embedding"));
}

namespace {

/// A style of its own: the activation and its product by one kernel each way that keeps both factors.
class Keeping final : public TrainingLowering {
 public:
  using TrainingLowering::TrainingLowering;

 private:
  void gated(VectorOp function, TensorShape tensor) override {
    forward(function, tensor, size(tensor) + size(tensor));
    backward(function, tensor, Pass::backward);
  }
};
constexpr StyleEntry kKeeping{.name = "keeping", .lowering = make_style<Keeping>};

}  // namespace

TEST_CASE("a new style of kernels is one class: what it does not override is as in the others") {
  const std::vector<ModelPart> layer = layer_of(transformer(llama_like()).stacks.front(), 0);
  const BlockKernels known = lower(layer, framework_with(KernelStyle::megatron), kBatch);
  const BlockKernels own = lower(layer, framework_with(KernelStyle(kKeeping)), kBatch);
  const auto is_activation = [](const PartKernel& kernel) { return kernel.part.role == Role::activation; };
  CHECK(std::ranges::count_if(own.forward, is_activation) == 1);
  const auto activation = std::ranges::find_if(own.forward, is_activation);
  CHECK(activation->kept == Bytes{2.0 * 2 * kSequences * kLength * 1536});
  CHECK(flops(own.forward) == near(flops(known.forward)));
  CHECK(flops(own.backward) == near(flops(known.backward)));
}

TEST_CASE("gradients of weights are added to what is kept by their products where the framework fuses that") {
  const std::vector<ModelPart> layer = layer_of(transformer(llama_like()).stacks.front(), 0);
  const auto results_of = [&](bool fused, DType kept) {
    Framework framework = framework_with(KernelStyle::megatron);
    framework.fused_accumulation = fused;
    framework.gradient_dtype = kept;
    std::vector<GemmResult> results;
    for (const PartKernel& kernel : lower(layer, framework, kBatch).backward) {
      const auto* const gemm = kernel.op.as<GemmShape>();
      if (gemm == nullptr) continue;
      const bool is_of_weights = kernel.gradient.value > 0.0;
      if (!is_of_weights) CHECK(gemm->result == GemmResult::rounded);
      if (is_of_weights) results.push_back(gemm->result);
    }
    return results;
  };
  CHECK(results_of(false, DType::fp32) == std::vector(4, GemmResult::rounded));
  CHECK(results_of(true, DType::fp32) == std::vector(4, GemmResult::added_fp32));
  CHECK(results_of(true, DType::bf16) == std::vector(4, GemmResult::added));
}

}  // namespace c3::models_transformer_test
