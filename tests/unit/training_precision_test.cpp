// Recipes of low precision: which kernels cast what, in how many bytes, and what memory holds.

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gpu/kernels/attention/attention_shape.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/operator_table.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"
#include "tests/support/near.hpp"
#include "tests/support/print_units.hpp"
#include "tests/unit/training_setups.hpp"

namespace c3::training_precision_test {

using namespace test;

namespace {

constexpr double kTokens = 256, kWidth = 512, kFfn = 1536, kQkv = 1024;           // of llama_like
constexpr double kWeights = kWidth * kQkv + kWidth * kWidth + 3 * kWidth * kFfn;  // of a layer's products

PrecisionRecipe recipe(const std::string& name) {
  for (const PrecisionRecipe candidate : kPrecisionRecipes)
    if (name_of(candidate) == name) return candidate;
  FAIL("no recipe ", name);
  return PrecisionRecipe::in_16_bits;
}

/// TransformerEngine's modules, whose casts stay: two layers without sharding, in bf16.
TrainingSetup engine_setup(const std::string& name) {
  TrainingSetup setup = llama_setup(2);
  setup.framework = megatron_framework();
  setup.framework.attention = AttentionCode::flash2;
  setup.framework.dropout = false;
  setup.sharding = Sharding::none;
  setup.precision.recipe = recipe(name);
  return setup;
}

/// torchao's, compiled, by FSDP.
TrainingSetup torch_setup(const std::string& name) {
  TrainingSetup setup = llama_setup(2);
  setup.framework.kernels = KernelStyle::compiled;
  setup.framework.separate_projections = false;
  setup.precision.recipe = recipe(name);
  return setup;
}

bool is_cast(VectorOp op) { return op >= VectorOp::quantize && op <= VectorOp::quantize_nv_both; }

/// Casts of \p kernels by operator: how many, and of how many numbers.
std::map<std::string, std::pair<int, double>> casts(const std::vector<PartKernel>& kernels) {
  std::map<std::string, std::pair<int, double>> found;
  for (const PartKernel& kernel : kernels) {
    const auto* const shape = kernel.op.as<VectorShape>();
    if (shape == nullptr || !is_cast(shape->chain.first())) continue;
    auto& [count, numbers] = found[std::string(name_of(shape->chain.first()))];
    ++count;
    numbers += static_cast<double>(shape->rows * shape->cols);
  }
  return found;
}

int count_of(const std::vector<PartKernel>& kernels, VectorOp op, DType dtype) {
  int count = 0;
  for (const PartKernel& kernel : kernels) {
    const auto* const shape = kernel.op.as<VectorShape>();
    if (shape != nullptr && shape->chain.first() == op && shape->dtype == dtype) ++count;
  }
  return count;
}

double flops(const std::vector<PartKernel>& kernels, DType dtype) {
  double sum = 0.0;
  for (const PartKernel& kernel : kernels) {
    const auto* const gemm = kernel.op.as<GemmShape>();
    if (gemm != nullptr && gemm->dtype == dtype) sum += matrix_flops(kernel.op).value;
  }
  return sum;
}

double kept(const StepBlock& block) {
  double sum = 0.0;
  for (const PartKernel& kernel : block.forward)
    sum += kernel.kept.value;
  return sum;
}

double tenant(const WrittenStep& step, const std::string& name) {
  for (const MemoryTenant& tenant : step.facts.memory.tenants)
    if (tenant.name == name) return tenant.bytes.value;
  return 0.0;
}

using Casts = std::map<std::string, std::pair<int, double>>;

}  // namespace

TEST_CASE("kernels that cast both ways write two copies, and scales of blocks along rows and along columns") {
  const auto written = [](VectorOp op) {
    return output_bytes(VectorShape{.chain = op, .rows = 300, .cols = 1000, .dtype = DType::bf16}).value;
  };
  constexpr double kNumbers = 300.0 * 1000.0;
  CHECK(written(VectorOp::quantize_both) == 2 * kNumbers);
  CHECK(written(VectorOp::quantize_rows_both) == 2 * kNumbers + 4 * (300 * 8 + 3 * 1000));
  CHECK(written(VectorOp::quantize_blocks_both) == 2 * kNumbers + 4 * 2 * (3 * 8));
  CHECK(written(VectorOp::quantize_mx_both) == 2 * kNumbers + 300 * 32 + 10 * 1000);
  CHECK(written(VectorOp::quantize_nv) == kNumbers / 2 + 300 * 63);
  CHECK(written(VectorOp::quantize_nv_both) == kNumbers + 300 * 63 + 19 * 1000);
  CHECK(written(VectorOp::rmsnorm_quantize) == kNumbers);
}

TEST_CASE("products of fp4 read half a byte a number and a scale of 16, and write 16 bits") {
  const GemmShape gemm{.m = 256, .n = 512, .k = 1024, .dtype = DType::fp4, .scales = GemmScales::nv};
  CHECK(operand_sizes(gemm).a.value == 0.5 + 1.0 / 16);
  CHECK(operand_sizes(gemm).b.value == 0.5 + 1.0 / 16);
  CHECK(output_bytes(gemm).value == 2.0 * 256 * 512);
}

TEST_CASE("TransformerEngine casts four inputs, four weights once a step, and four gradients of a layer") {
  // Inputs: of qkv, out, gate_up: 256 x 512; of down: 256 x 1,536. Gradients: 256 x 1,024, 512, 3,072, 512.
  constexpr double kInputs = kTokens * (3 * kWidth + kFfn);
  constexpr double kGradients = kTokens * (kQkv + kWidth + 2 * kFfn + kWidth);
  for (const bool any_layout : {false, true}) {
    CAPTURE(any_layout);
    TrainingSetup setup = engine_setup("fp8_tensorwise");
    setup.precision.takes_any_layout = any_layout;
    const StepBlock layer = layer_kernels(setup);
    const std::string cast = any_layout ? "quantize" : "quantize_both";
    CHECK(casts(layer.forward) == Casts{{cast, {8, kInputs + kWeights}}});
    CHECK(casts(layer.backward) == Casts{{cast, {4, kGradients}}});
    // Maxima: of weights, of attention's output and of the activation's; norms find their own.
    CHECK(count_of(layer.forward, VectorOp::reduce, DType::bf16) == 6);
    int once = 0;
    for (const PartKernel& kernel : layer.forward)
      once += kernel.once ? 1 : 0;
    CHECK(once == 8);  // four weights: maximum and cast
  }
  // A kernel for each input and gradient, which finds its scales: two copies whatever the layout.
  TrainingSetup setup = engine_setup("mxfp8");
  setup.precision.takes_any_layout = true;
  const StepBlock layer = layer_kernels(setup);
  CHECK(casts(layer.forward) == Casts{{"quantize_mx_both", {8, kInputs + kWeights}}});
  CHECK(casts(layer.backward) == Casts{{"quantize_mx_both", {4, kGradients}}});
  CHECK(count_of(layer.forward, VectorOp::reduce, DType::bf16) == 0);
  const StepBlock blocks = layer_kernels(engine_setup("fp8_blockwise"));
  CHECK(casts(blocks.forward) ==
        Casts{{"quantize_1x128_both", {4, kInputs}}, {"quantize_128x128_both", {4, kWeights}}});
}

TEST_CASE("with delayed scaling norms write their output cast, and a copy of it is transposed") {
  TrainingSetup setup = engine_setup("fp8_delayed");
  const StepBlock layer = layer_kernels(setup);
  CHECK(count_of(layer.forward, VectorOp::rmsnorm_quantize, DType::bf16) == 2);
  CHECK(count_of(layer.forward, VectorOp::copy, DType::fp8) == 2);
  CHECK(casts(layer.forward) == Casts{{"quantize_both", {6, kTokens * (kWidth + kFfn) + kWeights}}});
  CHECK(count_of(layer.forward, VectorOp::reduce, DType::bf16) == 0);
  setup.precision.takes_any_layout = true;
  CHECK(count_of(layer_kernels(setup).forward, VectorOp::copy, DType::fp8) == 0);
}

TEST_CASE("torchao casts weights in each pass, and inputs once more for gradients of weights") {
  const StepBlock layer = layer_kernels(torch_setup("fp8_tensorwise"));
  constexpr double kInputs = kTokens * (3 * kWidth + kFfn);
  constexpr double kGradients = kTokens * (kQkv + kWidth + 2 * kFfn + kWidth);
  CHECK(casts(layer.forward) == Casts{{"quantize", {8, kInputs + kWeights}}});
  CHECK(casts(layer.backward) ==
        Casts{{"quantize", {8, kInputs + kWeights}}, {"quantize_both", {4, kGradients}}});
  for (const PartKernel& kernel : layer.forward)
    CHECK_FALSE(kernel.once);
  // Its shards are cast before they are gathered: only gradients' products want the weight transposed.
  TrainingSetup gathered = torch_setup("fp8_tensorwise");
  gathered.precision.parameters = true;
  const StepBlock cast_before = layer_kernels(gathered);
  CHECK(casts(cast_before.forward) == Casts{{"quantize", {4, kInputs}}});
  CHECK(count_of(cast_before.backward, VectorOp::copy, DType::fp8) == 4);
}

TEST_CASE("all three products of a layer's weights are of the recipe's type, and nothing else is") {
  const TrainingSetup wide = engine_setup("16bit");
  const double layer = 2 * kTokens * kWeights;
  for (const auto& [name, dtype] : {std::pair{"fp8_delayed", DType::fp8},
                                    {"fp8_tensorwise", DType::fp8},
                                    {"fp8_blockwise", DType::fp8},
                                    {"mxfp8", DType::fp8},
                                    {"nvfp4", DType::fp4}}) {
    CAPTURE(name);
    TrainingSetup setup = engine_setup(name);
    const StepBlock narrow = layer_kernels(setup);
    CHECK(flops(narrow.forward, dtype) == layer);
    CHECK(flops(narrow.backward, dtype) == 2 * layer);
    CHECK(flops(narrow.forward, DType::bf16) == 0.0);
    CHECK(flops(narrow.backward, DType::bf16) == 0.0);
    CHECK(flops(head_kernels(setup).forward, DType::bf16) == 2 * kTokens * kWidth * 1000);
    setup.precision.weight_gradients = false;
    const StepBlock wide_gradients = layer_kernels(setup);
    CHECK(flops(wide_gradients.backward, dtype) == layer);
    CHECK(flops(wide_gradients.backward, DType::bf16) == layer);
    const StepFacts facts = training_step(setup, 1).facts;
    CHECK(facts.model_flops() == training_step(wide, 1).facts.model_flops());
    // Attention and the head stay in 16 bits, as do the gradients of weights here; flops tell types apart.
    REQUIRE(facts.flops.size() == 2);
    const auto narrow_flops = std::ranges::find(facts.flops, dtype, &TypedFlops::dtype);
    REQUIRE(narrow_flops != facts.flops.end());
    const double layers = static_cast<double>(setup.model.layers);
    CHECK(narrow_flops->model.value == near(3 * layers * layer));
    CHECK(narrow_flops->hardware.value == near(2 * layers * layer));
  }
}

TEST_CASE("kept are casts of inputs in place of norms' outputs and the activation's, with their scales") {
  const double wide = kept(layer_kernels(engine_setup("16bit")));
  const double products = kTokens * (2 * kWidth + kFfn) * 2;  // norms' outputs and the activation's, 16 bits
  const double inputs = kTokens * (3 * kWidth + kFfn);        // and attention's output, which that keeps, too
  const auto kept_with = [&](const char* name, bool any_layout = false) {
    TrainingSetup setup = engine_setup(name);
    setup.precision.takes_any_layout = any_layout;
    return kept(layer_kernels(setup));
  };
  CHECK(kept_with("fp8_delayed") == wide - products + inputs);
  CHECK(kept_with("fp8_tensorwise") == wide - products + inputs);
  CHECK(kept_with("fp8_tensorwise", true) == wide - products + inputs);
  // A scale for 128 tokens of each column: 4 bytes for 128; 1 byte for 32; half a byte and 1 for 16.
  CHECK(kept_with("fp8_blockwise") == wide - products + inputs * (1 + 4.0 / 128));
  CHECK(kept_with("mxfp8", true) == wide - products + inputs * (1 + 1.0 / 32));
  CHECK(kept_with("nvfp4") == wide - products + inputs * (0.5 + 1.0 / 16));
  // Gradients of weights in 16 bits want their inputs so.
  TrainingSetup setup = engine_setup("fp8_tensorwise");
  setup.precision.weight_gradients = false;
  CHECK(kept(layer_kernels(setup)) == wide);
  // torchao keeps 16 bits.
  CHECK(kept(layer_kernels(torch_setup("fp8_tensorwise"))) == kept(layer_kernels(torch_setup("16bit"))));
}

TEST_CASE("weights are held in 16 bits and in copies, or in copies alone") {
  // Two layers of kWeights and 2 norms; embedding, head and the last norm in 16 bits.
  constexpr double kOther = 2 * (2 * kWidth) + 2 * 1000 * kWidth + kWidth;
  const auto held = [&](const char* name, bool any_layout, bool parameters) {
    TrainingSetup setup = engine_setup(name);
    setup.precision.takes_any_layout = any_layout;
    setup.precision.parameters = parameters;
    const WrittenStep step = training_step(setup, 1);
    return std::pair(tenant(step, "parameters"), tenant(step, "weights cast"));
  };
  using Pair = std::pair<double, double>;
  const double all = 2 * (2 * kWeights + kOther);
  CHECK(held("16bit", false, false) == Pair{all, 0.0});
  CHECK(held("fp8_tensorwise", false, false) == Pair{all, 2 * 2 * kWeights});
  CHECK(held("fp8_tensorwise", true, false) == Pair{all, 2 * kWeights});
  CHECK(held("fp8_tensorwise", true, true) == Pair{2 * kOther, 2 * kWeights});
  CHECK(held("fp8_tensorwise", false, true) == Pair{2 * kOther, 2 * 2 * kWeights});
  CHECK(held("mxfp8", true, true) == Pair{2 * kOther, 2 * 2 * kWeights * (1 + 1.0 / 32)});
  CHECK(held("fp8_blockwise", true, true) == Pair{2 * kOther, 2 * 2 * kWeights * (1 + 4.0 / 16384)});
  TrainingSetup again = engine_setup("fp8_delayed");  // transposed for each backward pass
  again.precision.parameters = true;
  const StepBlock kept_both = layer_kernels(again);
  again.precision.transposes = false;
  CHECK(tenant(training_step(again, 1), "weights cast") == 2 * kWeights);
  const StepBlock layer = layer_kernels(again);
  CHECK(count_of(layer.forward, VectorOp::copy, DType::fp8) ==
        count_of(kept_both.forward, VectorOp::copy, DType::fp8) - 4);
  CHECK(count_of(layer.backward, VectorOp::copy, DType::fp8) ==
        count_of(kept_both.backward, VectorOp::copy, DType::fp8) + 4);
  CHECK(held("nvfp4", false, true) == Pair{2 * kOther, 2 * 2 * kWeights * (0.5 + 1.0 / 16)});
}

TEST_CASE("weights that are kept cast are gathered so, but those of mxfp8 in 16 bits") {
  constexpr double kOther = 2 * (2 * kWidth) + 2 * 1000 * kWidth + kWidth;
  const auto gathered = [&](TrainingSetup setup, bool parameters) {
    setup.precision.parameters = parameters;
    return bytes_of(calls_of(training_step(setup, 2), "all_gather", CollectiveKind::all_gather)).value;
  };
  const auto zero = [&](const char* name) {
    TrainingSetup setup = engine_setup(name);
    setup.sharding = Sharding::optimizer;
    return setup;
  };
  const double all = 2 * (2 * kWeights + kOther);
  CHECK(gathered(zero("fp8_tensorwise"), false) == near(all));
  CHECK(gathered(zero("fp8_tensorwise"), true) == near(2 * kOther + 2 * kWeights));
  CHECK(gathered(zero("mxfp8"), true) == near(all));
  CHECK(gathered(zero("nvfp4"), true) == near(2 * kOther + 2 * kWeights * (0.5 + 1.0 / 16)));
  // FSDP gathers the first of two layers once more for the backward pass.
  const double layer = 2 * (kWeights + 2 * kWidth), root = 2 * (2 * 1000 * kWidth + kWidth);
  CHECK(gathered(torch_setup("fp8_tensorwise"), false) == near(root + 3 * layer));
  CHECK(gathered(torch_setup("fp8_tensorwise"), true) == near(root + 3 * (layer - kWeights)));
}

TEST_CASE("tokens are cast before tensor-parallel ranks gather them, gradients for both of their products") {
  const auto gathered = [](const char* name, bool any_layout) {
    TrainingSetup setup = engine_setup(name);
    setup.tensor_parallel = 2;
    setup.sequence_parallel = true;
    setup.precision.takes_any_layout = any_layout;
    return bytes_of(calls_of(training_step(setup, 2), "tensor_gather", CollectiveKind::all_gather)).value;
  };
  // Each layer gathers two inputs, backward two gradients and the two inputs again. The head, in 16 bits, one,
  // and again.
  constexpr double kTensor = kTokens * kWidth;
  constexpr double kHead = 2 * 2 * kTensor;
  CHECK(gathered("16bit", true) == kHead + 2 * 6 * 2 * kTensor);
  CHECK(gathered("fp8_tensorwise", true) == kHead + 2 * 6 * kTensor);
  CHECK(gathered("mxfp8", true) == kHead + 2 * (4 + 2 * 2) * (1 + 1.0 / 32) * kTensor);
}

TEST_CASE("weights are cast in a step's first micro-batch, and not again when layers are recomputed") {
  TrainingSetup setup = engine_setup("mxfp8");
  setup.micro_batches = 3;
  setup.recompute = Recompute::full;
  const WrittenStep step = training_step(setup, 1);
  int weights = 0, inputs = 0;
  for (const Operation& operation : operations_of(step, "compute")) {
    const Operator* const op = kernel_of(operation);
    const auto* const shape = op == nullptr ? nullptr : op->as<VectorShape>();
    if (shape == nullptr || shape->chain.first() != VectorOp::quantize_mx_both) continue;
    (shape->rows == 256 ? inputs : weights) += 1;
  }
  CHECK(weights == 2 * 4);
  // Three micro-batches and two layers: four inputs twice, and four gradients.
  CHECK(inputs == 3 * 2 * (4 * 2 + 4));
}

TEST_CASE("layers at both ends stay in 16 bits") {
  TrainingSetup setup = engine_setup("fp8_tensorwise");
  setup.model.layers = 5;
  setup.precision.first_layers = 1;
  setup.precision.last_layers = 2;
  const WrittenStep step = training_step(setup, 1);
  std::map<DType, double> sums;
  for (const Operation& operation : operations_of(step, "compute")) {
    const Operator* const op = kernel_of(operation);
    const auto* const gemm = op == nullptr ? nullptr : op->as<GemmShape>();
    if (gemm != nullptr) sums[gemm->dtype] += matrix_flops(*op).value;
  }
  CHECK(sums[DType::fp8] == 2 * 3 * 2 * kTokens * kWeights);
  CHECK(sums[DType::bf16] == 3 * (3 * 2 * kTokens * kWeights + 2 * kTokens * kWidth * 1000));
}

TEST_CASE("without its casts a recipe of bf16 launches what 16 bits launch") {
  static constexpr RecipeEntry kSame = {.name = "same", .dtype = DType::bf16};
  for (TrainingSetup setup : {engine_setup("16bit"), torch_setup("16bit")}) {
    const StepBlock wide = layer_kernels(setup);
    setup.precision.recipe = PrecisionRecipe(kSame);
    const StepBlock same = layer_kernels(setup);
    const auto without_casts = [](const std::vector<PartKernel>& kernels) {
      std::vector<Operator> rest;
      for (const PartKernel& kernel : kernels) {
        const auto* const shape = kernel.op.as<VectorShape>();
        if (shape == nullptr || !is_cast(shape->chain.first())) rest.push_back(kernel.op);
      }
      return rest;
    };
    CHECK(without_casts(same.forward) == without_casts(wide.forward));
    CHECK(without_casts(same.backward) == without_casts(wide.backward));
    CHECK(casts(wide.forward).empty());
    CHECK_FALSE(casts(same.forward).empty());
  }
}

TEST_CASE(
    "attention in 8 bits casts its operands and results, keeps the casts, and has products of that type") {
  TrainingSetup setup = engine_setup("fp8_delayed");
  setup.framework.attention = AttentionCode::cudnn;
  const StepBlock before = layer_kernels(setup);
  setup.precision.attention = true;
  const StepBlock after = layer_kernels(setup);
  const auto attention = [](const std::vector<PartKernel>& kernels) {
    std::vector<AttentionShape> found;
    for (const PartKernel& kernel : kernels)
      if (const auto* const shape = kernel.op.as<AttentionShape>()) found.push_back(*shape);
    return found;
  };
  for (const auto& pass : {&StepBlock::forward, &StepBlock::backward}) {
    const auto here = attention(after.*pass), wide = attention(before.*pass);
    REQUIRE(here.size() == 1);
    CHECK(here.front().dtype == DType::fp8);
    CHECK(wide.front().dtype == DType::bf16);
    CHECK((after.*pass).size() == (before.*pass).size() + 2);  // a cast before, and one behind
  }
  // Queries, keys and values, forward; the gradient of the result, backward.
  const auto extra = [&](const std::vector<PartKernel>& here, const std::vector<PartKernel>& there) {
    return casts(here)["quantize"].second - casts(there)["quantize"].second;
  };
  CHECK(extra(after.forward, before.forward) == kTokens * kQkv);
  CHECK(extra(after.backward, before.backward) == kTokens * kWidth);
  // Everything that attention keeps but its sums has a byte a number in place of two.
  CHECK(kept(before) - kept(after) == kTokens * (kQkv + kWidth));
}

TEST_CASE("inputs of activations kept in 8 bits halve their bytes, for a cast in each pass") {
  TrainingSetup setup = engine_setup("fp8_delayed");
  const StepBlock before = layer_kernels(setup);
  setup.precision.activations = true;
  const StepBlock after = layer_kernels(setup);
  CHECK(kept(before) - kept(after) == kTokens * 2 * kFfn);
  CHECK(after.forward.size() == before.forward.size() + 1);
  CHECK(after.backward.size() == before.backward.size() + 1);
}

}  // namespace c3::training_precision_test
