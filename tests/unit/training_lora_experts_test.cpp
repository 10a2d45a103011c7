// Fine-tuning of models with experts by LoRA: frozen experts and routers, adapters beside attention and
// experts.

#include <doctest/doctest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/operator_table.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"
#include "tests/support/near.hpp"
#include "tests/support/print_units.hpp"
#include "tests/unit/training_setups.hpp"
#include "workloads/execute/waiting_cycle.hpp"

namespace c3::training_lora_experts_test {

using namespace literals;
using namespace test;

namespace {

// Sizes of llama_setup: h = 512, queries, keys and values 1024 wide, m = 256 tokens, three layers, 1000 words.
// A rank of four has two of eight experts of width 96, and each token goes to two: 512 rows.
constexpr int kTunedRanks = 8;
constexpr double kTunedHidden = 512, kTunedTokens = 256, kTunedRows = 512, kTunedWidth = 96, kTunedLayers = 3,
                 kTunedRank = 16;
constexpr double kBesideAttention = kTunedRank * ((kTunedHidden + 1024) + 2 * kTunedHidden);
constexpr double kBesideExperts =
    kTunedRank * ((kTunedHidden + 2 * kTunedWidth) + (kTunedWidth + kTunedHidden));

TrainingSetup tuned_experts(bool beside_experts) {
  TrainingSetup setup = llama_setup();
  setup.framework.kernels = KernelStyle::megatron;
  setup.framework.grouped_heads = true;
  setup.framework.separate_projections = false;
  setup.framework.master_copy = true;
  setup.sharding = Sharding::none;
  setup.model.experts =
      ExpertDimensions{.experts = 8, .per_token = 2, .width = static_cast<std::int64_t>(kTunedWidth)};
  setup.experts.ranks = 4;
  setup.lora = {
      .rank = static_cast<std::int64_t>(kTunedRank), .gate_up = beside_experts, .down = beside_experts};
  return setup;
}

TrainingSetup all_trained() {
  TrainingSetup setup = tuned_experts(false);
  setup.lora = {};
  return setup;
}

double held_of(const WrittenStep& step, MemoryClass memory_class) {
  return step.facts.memory.by_class[static_cast<std::size_t>(memory_class)].value;
}

Bytes kept_by(const TrainingSetup& setup, PartId part) {
  Bytes sum;
  for (const PartKernel& kernel : layer_kernels(setup).forward)
    if (kernel.part == part) sum += kernel.kept;
  return sum;
}

std::string refusal_of_tuned(const TrainingSetup& setup) { return refusal_of_step(setup, kTunedRanks); }

}  // namespace

TEST_CASE(
    "LoRA with experts: these and routers make no gradients of weights, adapters of experts have all rows") {
  const WrittenStep full = training_step(all_trained(), kTunedRanks);
  for (const bool beside_experts : {false, true}) {
    CAPTURE(beside_experts);
    const WrittenStep step = training_step(tuned_experts(beside_experts), kTunedRanks);
    const double small =
        2.0 * kTunedLayers *
        (kTunedTokens * kBesideAttention + (beside_experts ? kTunedRows * kBesideExperts : 0.0));
    const Products forward = products_of(full, "forward");
    CHECK(products_of(step, "forward").others == forward.others + small);
    // Backward each product has one of two gradients, an adapter's both.
    CHECK(products_of(step, "backward").others == forward.others + 2.0 * small);
    CHECK(step.facts.model_flops().value ==
          near(2.0 * forward.others + 3.0 * forward.attention + 3.0 * small, 1e-12));
    // Tokens travel as before: gradients of adapters beside attention come through experts.
    CHECK(calls_of(step, "dispatch", CollectiveKind::all_to_all) ==
          calls_of(full, "dispatch", CollectiveKind::all_to_all));
  }
}

TEST_CASE("LoRA with experts: one adapter of all experts of a rank, summed over the ranks that have the same") {
  const double frozen = kTunedLayers * (3 * kTunedHidden * kTunedHidden + 2 * kTunedHidden + 8 * kTunedHidden +
                                        2 * 3 * kTunedHidden * kTunedWidth) +
                        2.0 * 1000 * kTunedHidden + kTunedHidden;
  for (const bool beside_experts : {false, true}) {
    CAPTURE(beside_experts);
    const WrittenStep step = training_step(tuned_experts(beside_experts), kTunedRanks);
    const double of_experts = beside_experts ? kTunedLayers * kBesideExperts : 0.0;
    const double trained = kTunedLayers * kBesideAttention + of_experts;
    CHECK(held_of(step, MemoryClass::weights) == 2.0 * (frozen + trained));
    CHECK(held_of(step, MemoryClass::gradients) == 4.0 * trained);
    CHECK(held_of(step, MemoryClass::optimizer) == 12.0 * trained);
    const auto sums = calls_of(step, "gradients", CollectiveKind::all_reduce);
    CHECK(bytes_of(sums).value == 4.0 * kTunedLayers * kBesideAttention);
    CHECK_FALSE(sums.front().groups);
    const auto of_their = calls_of(step, "expert_gradients", CollectiveKind::all_reduce);
    CHECK(bytes_of(of_their).value == 4.0 * of_experts);
    for (const CollectiveCall& call : of_their)
      CHECK(*call.groups == RankGroups{.size = 2, .stride = 4});
  }
}

TEST_CASE("LoRA with experts: kernels beside the adapters' products have the rows of all experts' tokens") {
  const StepBlock layer = layer_kernels(tuned_experts(true));
  for (const auto* kernels : {&layer.forward, &layer.backward}) {
    int seen = 0;
    for (const PartKernel& kernel : *kernels) {
      const bool is_adapter =
          kernel.part.role == Role::gate_up_adapter || kernel.part.role == Role::down_adapter;
      const auto* shape = kernel.op.as<VectorShape>();
      if (kernel.part.block != BlockId::experts || !is_adapter || shape == nullptr) continue;
      CHECK(static_cast<double>(shape->rows) == kTunedRows);
      ++seen;
    }
    CHECK(seen >= 4);
  }
}

TEST_CASE("LoRA with experts: a layer keeps no rows that only gradients of frozen weights would need") {
  const PartId gate_up{BlockId::experts, Role::gate_up}, activation{BlockId::experts, Role::activation};
  const double row = 2.0 * kTunedRows;  // bytes of a number of each
  // What gate and up make is kept for the activation; their input, and what the activation makes, for weights.
  CHECK(kept_by(all_trained(), gate_up) == Bytes{row * (2 * kTunedWidth + kTunedHidden)});
  CHECK(kept_by(all_trained(), activation) == Bytes{row * kTunedWidth});
  CHECK(kept_by(tuned_experts(false), gate_up) == Bytes{row * 2 * kTunedWidth});
  CHECK(kept_by(tuned_experts(false), activation) == Bytes{});
  CHECK(kept_by(tuned_experts(true), gate_up) == Bytes{row * (2 * kTunedWidth + kTunedHidden)});
  CHECK(kept_by(tuned_experts(true), activation) == Bytes{row * kTunedWidth});
  CHECK(kept_by(tuned_experts(true), {BlockId::experts, Role::gate_up_adapter}) == Bytes{row * kTunedRank});
}

TEST_CASE("LoRA with experts: shared experts have adapters of their own, which tensor-parallel ranks share") {
  TrainingSetup setup = tuned_experts(true);
  setup.model.experts->shared_width = 160;
  setup.tensor_parallel = 2;
  setup.sequence_parallel = true;
  setup.experts.tensor = 1;
  const WrittenStep step = training_step(setup, kTunedRanks);
  CHECK_FALSE(named(step, "compute", "shared.gate_up_adapter").empty());
  CHECK_FALSE(named(step, "compute", "experts.down_adapter").empty());
  CHECK(waiting_cycle(step.program, Strategy{}, kTunedRanks, nullptr).empty());
  // Nobody trains what tensor-parallel ranks have whole.
  CHECK(calls_of(step, "tensor", CollectiveKind::all_reduce).empty());
}

TEST_CASE("LoRA with experts refuses adapters that several ranks would share, and FSDP of experts") {
  TrainingSetup setup = tuned_experts(true);
  setup.experts.tensor = 2;
  CHECK(refusal_of_tuned(setup) ==
        "expert_tensor_parallel: must be 1 with adapters beside experts (lora.gate_up, lora.down): it is 2");
  setup = tuned_experts(false);
  setup.sharding = Sharding::parameters;
  CHECK(refusal_of_tuned(setup).starts_with("sharding: fsdp with expert_parallel > 1 cannot be combined with"));
}

}  // namespace c3::training_lora_experts_test
