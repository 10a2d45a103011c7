// Fine-tuning by LoRA: what is computed, kept, held and exchanged, against closed forms.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "gpu/kernels/attention/attention_shape.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/operator_table.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"
#include "tests/support/near.hpp"
#include "tests/support/print_units.hpp"
#include "tests/unit/training_pipelines.hpp"
#include "tests/unit/training_setups.hpp"
#include "workloads/execute/waiting_cycle.hpp"

namespace c3::training_lora_test {

using namespace literals;
using namespace test;

namespace {

// Sizes of llama_setup: h = 512, f = 1536, keys and values of half the width, m = 256 tokens, three layers,
// 1000 words.
constexpr double kHidden = 512, kFfn = 1536, kTokens = 256, kLayers = 3;
constexpr double kQkv = 2 * kHidden;  ///< outputs of the projection to queries, keys and values
constexpr double kRank = 16;

TrainingSetup tuned(bool gate_up = false, bool down = false) {
  TrainingSetup setup = llama_setup();
  setup.framework.kernels = KernelStyle::megatron;
  setup.framework.grouped_heads = true;
  setup.framework.separate_projections = false;
  setup.framework.master_copy = true;
  setup.sharding = Sharding::none;
  setup.lora = {.rank = static_cast<std::int64_t>(kRank), .gate_up = gate_up, .down = down};
  return setup;
}

TrainingSetup whole() {
  TrainingSetup setup = tuned();
  setup.lora = {};
  return setup;
}

/// Numbers of a layer's adapters: rank x (inputs + outputs) of each.
double adapters(const LoraSetup& lora) {
  double sum = 0.0;
  if (lora.qkv) sum += kHidden + kQkv;
  if (lora.out) sum += kHidden + kHidden;
  if (lora.gate_up) sum += kHidden + 2 * kFfn;
  if (lora.down) sum += kFfn + kHidden;
  return kRank * sum;
}

double held(const WrittenStep& step, MemoryClass memory_class) {
  return step.facts.memory.by_class[static_cast<std::size_t>(memory_class)].value;
}

}  // namespace

TEST_CASE("LoRA: gradients of frozen weights fall away, and small products come beside the targets") {
  const WrittenStep full = training_step(whole(), 2);
  for (const bool feed_forward : {false, true}) {
    CAPTURE(feed_forward);
    const TrainingSetup setup = tuned(feed_forward, feed_forward);
    const WrittenStep step = training_step(setup, 2);
    const double small = 2.0 * kTokens * kLayers * adapters(setup.lora);
    const Products forward = products_of(full, "forward");
    CHECK(products_of(step, "forward").others == forward.others + small);
    // Backward each product has one of two gradients, an adapter's both.
    CHECK(products_of(step, "backward").others == forward.others + 2.0 * small);
    for (const char* const pass : {"forward", "backward"})
      CHECK(products_of(step, pass).attention == products_of(full, pass).attention);
    const double model = 2.0 * forward.others + 3.0 * forward.attention + 3.0 * small;
    CHECK(step.facts.model_flops().value == near(model, 1e-12));
  }
}

TEST_CASE(
    "LoRA: adapters alone have gradients, moments and sums over ranks, and frozen weights are there once") {
  const double all = static_cast<double>(parameters(transformer(llama_like())));
  for (const bool feed_forward : {false, true}) {
    const TrainingSetup setup = tuned(feed_forward, feed_forward);
    const double trained = kLayers * adapters(setup.lora);
    const WrittenStep step = training_step(setup, 2);
    CHECK(held(step, MemoryClass::weights) == 2.0 * (all + trained));
    CHECK(held(step, MemoryClass::gradients) == 4.0 * trained);
    CHECK(held(step, MemoryClass::optimizer) == 12.0 * trained);  // a master copy and two moments in fp32
    CHECK(bytes_of(calls_of(step, "gradients", CollectiveKind::all_reduce)).value == 4.0 * trained);
  }
}

TEST_CASE("LoRA with FSDP: all parameters are gathered, gradients of adapters are reduced") {
  TrainingSetup setup = tuned(true, true);
  setup.sharding = Sharding::parameters;
  const WrittenStep step = training_step(setup, 2);
  const double all = static_cast<double>(parameters(transformer(llama_like())));
  const double trained = kLayers * adapters(setup.lora);
  const double layer = (all - 2.0 * 1000 * kHidden - kHidden) / kLayers + adapters(setup.lora);
  const auto gathers = calls_of(step, "all_gather", CollectiveKind::all_gather);
  // Forward all; backward all layers but the last one, which stays.
  CHECK(bytes_of(gathers).value == 2.0 * (all + trained + (kLayers - 1) * layer));
  CHECK(bytes_of(calls_of(step, "reduce_scatter", CollectiveKind::reduce_scatter)).value == 4.0 * trained);
  CHECK(held(step, MemoryClass::optimizer) == 8.0 * trained / 2.0);  // moments; shards are weights
}

TEST_CASE("LoRA: a layer keeps no inputs of products that nobody trains") {
  const auto kept_by_layer = [](TrainingSetup setup) {
    const auto activations = [&](std::int64_t layers) {
      setup.model.layers = layers;
      return held(training_step(setup, 2), MemoryClass::activations);
    };
    return activations(9) - activations(8);
  };
  const double full = kept_by_layer(whole());
  // Inputs of gate and up (the norm's output) and of down (the product of both) are not kept; those of qkv and
  // out are, and the product with A of each.
  CHECK(kept_by_layer(tuned()) == full - 2.0 * kTokens * (kHidden + kFfn) + 2.0 * kTokens * 2 * kRank);
  CHECK(kept_by_layer(tuned(true, true)) == full + 2.0 * kTokens * 4 * kRank);
  TrainingSetup only_down = tuned(false, true);
  only_down.lora.qkv = only_down.lora.out = false;
  CHECK(kept_by_layer(only_down) == full - 2.0 * kTokens * 2 * kHidden + 2.0 * kTokens * kRank);
}

TEST_CASE("LoRA: tensor-parallel ranks gather or sum what adapters make, and its gradients") {
  const double narrow = 2.0 * kTokens * kRank, wide = 2.0 * kTokens * kHidden;
  for (const bool sequence : {false, true}) {
    CAPTURE(sequence);
    TrainingSetup setup = tuned(true, true);
    setup.tensor_parallel = 4;
    setup.sequence_parallel = sequence;
    const WrittenStep step = training_step(setup, 8);
    const auto sum = [&](CollectiveKind kind) {
      return bytes_of(calls_of(step, "adapters", kind)).value / kLayers;
    };
    // qkv and gate_up gather the product with A; out and down sum it and gather their outputs, with sequence
    // parallelism also the outputs' gradients. Backward all four sum the product's gradient; without sequence
    // parallelism qkv and gate_up also their input's.
    CHECK(sum(CollectiveKind::all_gather) == 2.0 * narrow + 2.0 * wide * (sequence ? 2.0 : 1.0));
    CHECK(sum(CollectiveKind::all_reduce) == 2.0 * narrow + 4.0 * narrow + (sequence ? 0.0 : 2.0 * wide));
    for (const CollectiveCall& call : calls_of(step, "adapters", CollectiveKind::all_reduce))
      CHECK(call.groups.value() == RankGroups{.size = 4, .stride = 1});
    // A rank has a quarter of each adapter.
    CHECK(held(step, MemoryClass::optimizer) == 12.0 * kLayers * adapters(setup.lora) / 4.0);
    CHECK(waiting_cycle(step.program, Strategy{}, 8, nullptr).empty());
  }
}

TEST_CASE("LoRA: PyTorch's separate projections have an adapter each") {
  TrainingSetup setup = tuned(true, false);
  setup.framework.separate_projections = true;
  const double keys = kHidden / 2;
  const double per_layer =
      kRank * (kHidden + kHidden + 2 * (kHidden + keys) + (kHidden + kHidden) + 2 * (kHidden + kFfn));
  const WrittenStep step = training_step(setup, 2);
  CHECK(held(step, MemoryClass::gradients) == 4.0 * kLayers * per_layer);
}

TEST_CASE("LoRA: stages of a pipeline and every kind of sharding are written without a deadlock") {
  for (const Sharding sharding : {Sharding::none, Sharding::optimizer, Sharding::parameters}) {
    CAPTURE(name_of(sharding));
    TrainingSetup setup = pipelined(tuned(true, true), 3, 4);
    setup.sharding = sharding;
    setup.recompute = Recompute::full;
    const WrittenStep step = training_step(setup, 6);
    CHECK(waiting_cycle(step.program, Strategy{}, 6, nullptr).empty());
    CHECK(step.facts.memory.bytes < training_step(pipelined(whole(), 3, 4), 6).facts.memory.bytes);
  }
}

TEST_CASE(
    "LoRA: what divides outputs gathers its product with A, what divides inputs sums it and gathers outputs") {
  const double narrow = 2.0 * kTokens * kRank, wide = 2.0 * kTokens * kHidden;
  for (const bool divides_outputs : {true, false}) {
    CAPTURE(divides_outputs);
    TrainingSetup setup = tuned();
    setup.lora.qkv = divides_outputs;
    setup.lora.out = !divides_outputs;
    setup.tensor_parallel = 4;
    setup.sequence_parallel = true;
    const WrittenStep step = training_step(setup, 8);
    const auto sum = [&](CollectiveKind kind) {
      return bytes_of(calls_of(step, "adapters", kind)).value / kLayers;
    };
    CHECK(sum(CollectiveKind::all_gather) == (divides_outputs ? narrow : 2.0 * wide));
    CHECK(sum(CollectiveKind::all_reduce) == (divides_outputs ? narrow : 2.0 * narrow));
  }
}

TEST_CASE("LoRA: with all-to-alls each rank gets its tokens of all outputs, and nothing wide is gathered") {
  TrainingSetup setup = tuned(true, true);
  setup.tensor_parallel = 4;
  setup.sequence_parallel = true;
  setup.lora.all_to_all = true;
  const WrittenStep step = training_step(setup, 8);
  const auto sum = [&](CollectiveKind kind) {
    return bytes_of(calls_of(step, "adapters", kind)).value / kLayers;
  };
  const double narrow = 2.0 * kTokens * kRank, wide = 2.0 * kTokens * kHidden;
  CHECK(sum(CollectiveKind::all_gather) == 2.0 * narrow);            // of qkv and gate_up
  CHECK(sum(CollectiveKind::all_to_all) == 2.0 * 2.0 * wide / 4.0);  // of out and down, in both passes
  CHECK(waiting_cycle(step.program, Strategy{}, 8, nullptr).empty());
}

TEST_CASE("LoRA: dropout keeps what it makes and a mask, and not what it reads") {
  const auto kept_by_layer = [](TrainingSetup setup) {
    const auto activations = [&](std::int64_t layers) {
      setup.model.layers = layers;
      return held(training_step(setup, 2), MemoryClass::activations);
    };
    return activations(9) - activations(8);
  };
  TrainingSetup dropping = tuned();
  dropping.lora.dropout = true;
  // The mask of qkv's input comes on top; attention keeps out's input for itself.
  CHECK(kept_by_layer(dropping) == kept_by_layer(tuned()) + kTokens * kHidden + 3.0 * kTokens * kHidden);
}

TEST_CASE("LoRA in FP8: frozen weights are held as casts alone, and no input of theirs is kept or transposed") {
  TrainingSetup setup = tuned();
  setup.precision.recipe = *std::ranges::find(kPrecisionRecipes, "fp8_delayed",
                                              [](PrecisionRecipe recipe) { return name_of(recipe); });
  setup.precision.parameters = true;
  const double all = static_cast<double>(parameters(transformer(llama_like())));
  const double products = kHidden * kQkv + kHidden * kHidden + 3 * kHidden * kFfn;
  const double trained = kLayers * adapters(setup.lora);
  for (const bool any_layout : {false, true}) {
    CAPTURE(any_layout);
    setup.precision.takes_any_layout = any_layout;
    const WrittenStep step = training_step(setup, 2);
    const double copies = any_layout ? 1.0 : 2.0;  // a copy along rows, and one along columns
    CHECK(held(step, MemoryClass::weights) ==
          2.0 * (all - kLayers * products) + copies * kLayers * products + 2.0 * trained);
    // Adapters are in 16 bits; of the others two products, no gradient of a weight, are in 8.
    for (const char* const pass : {"forward", "backward"}) {
      double narrow = 0.0;
      for (const Operation& operation : operations_of(step, "compute")) {
        const Operator* op = kernel_of(operation);
        const auto* const gemm = op == nullptr ? nullptr : op->as<GemmShape>();
        if (gemm != nullptr && gemm->dtype == DType::fp8 && step.program.range_of(operation).starts_with(pass))
          narrow += matrix_flops(*op).value;
      }
      CHECK(narrow == 2.0 * kTokens * kLayers * products);
    }
  }
  const StepBlock layer = layer_kernels(setup);
  for (const PartKernel& kernel : layer.backward) {
    const auto* const shape = kernel.op.as<VectorShape>();
    CHECK((shape == nullptr || shape->chain.first() != VectorOp::quantize_both));
  }
}

}  // namespace c3::training_lora_test
