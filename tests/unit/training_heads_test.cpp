// BERT's steps: norms behind their blocks, heads of some words and of classes, attention sequence by sequence.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"
#include "tests/support/near.hpp"
#include "tests/support/print_units.hpp"
#include "tests/unit/training_setups.hpp"

namespace c3::training_heads_test {

using namespace test;

namespace {

constexpr std::int64_t kPredicted = 20;

TrainingSetup bert_setup() {
  TrainingSetup setup = gpt_setup();
  setup.model.structure = Structure::encoder;
  setup.model.norm_after = true;
  setup.model.token_types = 2;
  setup.head = ModelHead::pretraining;
  setup.predictions = kPredicted;
  return setup;
}

std::vector<GemmShape> products_of(const std::vector<PartKernel>& kernels, PartId part) {
  std::vector<GemmShape> products;
  for (const PartKernel& kernel : kernels) {
    const auto* gemm = kernel.op.as<GemmShape>();
    if (gemm != nullptr && kernel.part == part) products.push_back(*gemm);
  }
  return products;
}

}  // namespace

TEST_CASE(
    "a layer with norms behind its blocks has the kernels, and keeps the bytes, of one with norms before") {
  TrainingSetup after = bert_setup(), before = bert_setup();
  before.model.norm_after = false;
  const StepBlock behind = layer_kernels(after), front = layer_kernels(before);
  for (const auto list : {&BlockKernels::forward, &BlockKernels::backward}) {
    CHECK((behind.*list).size() == (front.*list).size());
    for (const PartKernel& kernel : behind.*list) {
      const auto is_same = [&](const PartKernel& other) {
        return other.part == kernel.part && other.op == kernel.op && other.kept == kernel.kept;
      };
      CHECK(std::ranges::count_if(behind.*list, is_same) == std::ranges::count_if(front.*list, is_same));
    }
  }
  CHECK(behind.forward.back().part == PartId{BlockId::feed_forward, Role::norm});
  CHECK(front.forward.front().part == PartId{BlockId::self_attention, Role::norm});
  // The embedding has the norm that the last layer's behind-norms make superfluous at the end.
  CHECK(embedding_kernels(after).parameters == embedding_kernels(before).parameters + 2 * after.model.hidden);
  CHECK(head_kernels(after).parameters + 2 * after.model.hidden == head_kernels(before).parameters);
}

TEST_CASE("a recomputed layer keeps one tensor, its input, wherever its norms are") {
  // T h numbers of fp16 a layer, and what one layer keeps while it runs again, less that input.
  const auto activations = [](bool after, std::int64_t layers) {
    TrainingSetup setup = bert_setup();
    setup.model.norm_after = after;
    setup.model.layers = layers;
    setup.recompute = Recompute::full;
    return training_step(setup, 1).facts.memory.of(MemoryClass::activations).value;
  };
  const TrainingSetup setup = bert_setup();
  const auto input = 2.0 * static_cast<double>(setup.tokens() * setup.model.hidden);
  CHECK(activations(true, 9) - activations(true, 8) == near(input));
  CHECK(activations(false, 9) - activations(false, 8) == near(input));
  // A part of what a layer keeps while it runs again is there before: the input behind its last norm, or before
  // its first.
  const auto there = [](const TrainingSetup& recomputed) {
    std::vector<std::pair<PartId, double>> kernels;
    for (const PartKernel& kernel : layer_kernels(recomputed).forward)
      if (kernel.kept_input.value > 0.0) kernels.emplace_back(kernel.part, kernel.kept_input.value);
    return kernels;
  };
  using Kept = std::vector<std::pair<PartId, double>>;
  TrainingSetup before = setup;
  before.model.norm_after = false;
  CHECK((there(setup) == Kept{{{BlockId::feed_forward, Role::norm}, input}}));
  CHECK((there(before) == Kept{{{BlockId::self_attention, Role::norm}, input}}));
}

TEST_CASE("the head predicts some words of each sequence: its products and its loss are of those") {
  const TrainingSetup setup = bert_setup();
  const StepBlock head = head_kernels(setup);
  const std::int64_t rows = setup.micro_batch * kPredicted;
  const auto logits = products_of(head.forward, {BlockId::head, Role::logits});
  REQUIRE(logits.size() == 1);
  CHECK(logits.front().m == rows);
  CHECK(logits.front().n == setup.model.vocabulary);
  const auto transform = products_of(head.forward, {BlockId::head, Role::transform});
  REQUIRE(transform.size() == 1);
  CHECK(transform.front().m == rows);
  // A pooled token and its classes; backward two products for each of both.
  CHECK(products_of(head.forward, {BlockId::head, Role::classes}).size() == 2);
  const auto gradients = products_of(head.backward, {BlockId::head, Role::classes});
  CHECK(gradients.size() == 4);
  CHECK(gradients.front().batch == 1);
  for (const PartKernel& kernel : head.forward) {
    const auto* vector = kernel.op.as<VectorShape>();
    if (vector != nullptr && kernel.part.block == BlockId::loss && vector->cols > 1)
      CHECK(vector->rows == rows);
  }
  // The gradient of all tokens is cleared, and the rows of those that are predicted are put into it.
  const auto picks = [&](const std::vector<PartKernel>& kernels) {
    std::vector<std::int64_t> sizes;
    for (const PartKernel& kernel : kernels)
      if (kernel.part.role == Role::pick) sizes.push_back(kernel.op.as<VectorShape>()->rows);
    return sizes;
  };
  CHECK(picks(head.forward) == std::vector{rows});
  CHECK(picks(head.backward) == std::vector{setup.tokens(), rows});
}

TEST_CASE("a classifier has no logits and no loss over words") {
  TrainingSetup setup = bert_setup();
  setup.head = ModelHead::classifier;
  setup.predictions = 0;
  const WrittenStep step = training_step(setup, 2);
  CHECK(named(step, "compute", "head.logits").empty());
  CHECK(named(step, "compute", "loss").empty());
  CHECK_FALSE(named(step, "compute", "head.classes").empty());
}

TEST_CASE(
    "tensor-parallel ranks share the logits of predicted words, and each makes the whole transform before "
    "them") {
  TrainingSetup setup = bert_setup();
  setup.tensor_parallel = 2;
  const StepBlock head = head_kernels(setup);
  const TrainingSetup whole = bert_setup();
  CHECK(products_of(head.forward, {BlockId::head, Role::transform}) ==
        products_of(head_kernels(whole).forward, {BlockId::head, Role::transform}));
  CHECK(products_of(head.forward, {BlockId::head, Role::logits}).front().n == whole.model.vocabulary / 2);
  for (const PartKernel& kernel : head.forward) {
    const auto* vector = kernel.op.as<VectorShape>();
    if (vector != nullptr && kernel.part.role == Role::transform) CHECK(vector->cols == whole.model.hidden);
  }
  const WrittenStep step = training_step(setup, 2);
  const auto rows = static_cast<double>(setup.micro_batch * kPredicted);
  for (const Placed& placed : named(step, "tensor", "head.logits"))
    CHECK(step.program.call_of(*placed.operation)->bytes.value ==
          2.0 * rows * static_cast<double>(setup.model.hidden));
  for (const Placed& placed : named(step, "vocabulary", "largest logit"))
    CHECK(step.program.call_of(*placed.operation)->bytes.value == 4.0 * rows);
  CHECK(named(step, "vocabulary", "largest logit").size() == 1);
}

TEST_CASE("attention by sequence costs the host a launch for each, and the GPU the same kernels") {
  TrainingSetup setup = bert_setup();
  setup.micro_batch = 6;
  setup.host.kernel_launch = Seconds{1e-6};
  const auto host_time = [](const WrittenStep& step) {
    Seconds sum;
    for (const HostStep& host_step : host_of(step).steps)
      sum += host_step.cost;
    return sum;
  };
  const WrittenStep together = training_step(setup, 1);
  setup.framework.sequences_apart = true;
  const WrittenStep apart = training_step(setup, 1);
  CHECK(operations_of(apart, "compute").size() == operations_of(together, "compute").size());
  // Two products and a softmax forward, four and one backward, in each of two layers: five launches more of
  // each.
  CHECK((host_time(apart) - host_time(together)).value == near(2 * 8 * 5 * 1e-6, 1e-9));
}

TEST_CASE("a host that waits between the parts of attention waits four times a layer, forward only") {
  const auto waits = [](bool syncs) {
    TrainingSetup setup = bert_setup();
    setup.framework.syncs_attention = syncs;
    const WrittenStep step = training_step(setup, 1);
    return std::ranges::count_if(host_of(step).steps,
                                 [](const HostStep& host_step) { return host_step.waits_for.has_value(); });
  };
  CHECK(waits(true) - waits(false) == 4 * 2);
}

TEST_CASE("heads of some words refuse, by name, what divides tokens among ranks") {
  const auto refusal = [](const auto& change) {
    TrainingSetup setup = bert_setup();
    change(setup);
    try {
      training_step(setup, 4);
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  CHECK(refusal([](TrainingSetup&) {}) == "none");
  CHECK(refusal([](TrainingSetup& setup) { setup.predictions = 129; }) ==
        "predictions: must not exceed the sequence of 128 tokens (it is 129)");
  CHECK(refusal([](TrainingSetup& setup) { setup.head = ModelHead::classifier; }) ==
        "predictions: cannot be combined with head = \"classifier\", which predicts no words");
  CHECK(refusal([](TrainingSetup& setup) {
          setup.tensor_parallel = 2;
          setup.sequence_parallel = true;
        }) == "predictions: requires sequence_parallel = false (it is true)");
  CHECK(refusal([](TrainingSetup& setup) {
          setup.predictions = 0;
          setup.tensor_parallel = 2;
          setup.tensor_overlap = TensorOverlap::chunks;
        }) == "head: \"pretraining\" requires tensor_overlap = \"none\" (it is \"chunks\")");
}

}  // namespace c3::training_heads_test
