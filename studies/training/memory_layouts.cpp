#include "studies/training/memory_layouts.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <utility>

#include "configs/jobs/experiment_reader.hpp"
#include "configs/presets/preset_store.hpp"
#include "workloads/models/transformer.hpp"
#include "workloads/training/training_step.hpp"

namespace c3 { inline namespace studies {
namespace {

/// Bytes that a rank needs whatever its tokens, and for each token of a micro-batch.
struct Count {
  double fixed = 0.0;
  double per_token = 0.0;
};

/// Numbers of a model's parts, as formulas have them.
struct Sizes {
  explicit Sizes(const ModelDimensions& model)
      : hidden(static_cast<double>(model.hidden)),
        ffn(static_cast<double>(model.ffn)),
        heads(static_cast<double>(model.heads)),
        kv(static_cast<double>(model.kv_heads * model.head_dim())),
        layers(static_cast<double>(model.layers)),
        words(static_cast<double>(model.vocabulary)),
        all(static_cast<double>(parameters(transformer(model)))),
        root((model.tied_embedding ? 1.0 : 2.0) * words * hidden +
             static_cast<double>(model.positions) * hidden),
        layer((all - root) / layers) {}

  double hidden, ffn, heads, kv, layers, words;
  double all, root, layer;  ///< parameters: of the model, of what is not in layers, of a layer
};

// All are in 16 bits but for fp32 shards and moments, 12 bytes a parameter.

// PyTorch's FSDP 2: shards and moments; the gathered root, its gradients, the last layer; the loss' three
// tensors of fp32 logits; the final norm; the gradient of the last output.
Count fsdp(const Sizes& of, double ranks, double of_layer) {
  return {.fixed = 12 * of.all / ranks + 4 * of.root + 2 * of.layer,
          .per_token = of.layers * of_layer + 12 * of.words + 8 * of.hidden + 2 * of.hidden};
}

Count fsdp_recomputed(const Sizes& of, const TrainingSetup& /*setup*/, double ranks) {
  return fsdp(of, ranks, 2 * of.hidden);
}

// A layer of eager code (arXiv 2205.05198, section 4, without dropout): two norms in fp32, attention with
// repeated heads and its sums, both halves of the activation, its output and the product.
Count fsdp_kept(const Sizes& of, const TrainingSetup& /*setup*/, double ranks) {
  return fsdp(of, ranks, 2 * 8 * of.hidden + 8 * of.hidden + 4 * of.heads + 8 * of.ffn);
}

// FSDP 1 with a fused loss: no layer is gathered; logits and their gradient in 16 bits.
Count flat(const Sizes& of, const TrainingSetup& /*setup*/, double ranks) {
  const double of_layer = 8 * of.hidden + 8 * of.hidden + 4 * of.heads + 4 * of.ffn;
  return {.fixed = 12 * of.all / ranks + 4 * of.root,
          .per_token = of.layers * of_layer + 4 * of.words + 4 * of.hidden + 2 * of.hidden};
}

// Megatron-LM with sequence parallelism and ZeRO-1: parameters, fp32 gradients, and a replica's part of the
// rest; norms, rotated queries and keys, values, sums, the activation's input and output; a fused loss of fp32
// logits.
Count megatron(const Sizes& of, const TrainingSetup& setup, double ranks) {
  const double share = setup.tensor_parallel;
  const double of_layer = 12 * of.hidden + 4 * of.kv + 4 * of.heads + 6 * of.ffn;
  return {.fixed = of.all / share * (6 + 12 / (ranks / share)),
          .per_token = (of.layers * of_layer + 10 * of.words + 6 * of.hidden) / share};
}

// Megatron-DeepSpeed without a distributed optimizer, layers recomputed: 16 bytes a parameter, layers' inputs,
// dropout's mask of the embedding, the final norm, and logits in 16 bits, in fp32, and as differences.
Count replicated(const Sizes& of, const TrainingSetup& /*setup*/, double /*ranks*/) {
  return {.fixed = 16 * of.all,
          .per_token = 2 * of.hidden * of.layers + of.hidden + 4 * of.hidden + 10 * of.words};
}

/// Layouts that are counted alike.
struct Family {
  std::string_view name;
  std::string_view framework;
  DType dtype;
  Sharding sharding;
  Recompute recompute;
  Count (*count)(const Sizes& of, const TrainingSetup& setup, double ranks);
};

constexpr Family kRecomputed = {"fsdp, recomputed",   "pytorch-eager", DType::bf16,
                                Sharding::parameters, Recompute::full, fsdp_recomputed};
constexpr Family kKept = {"fsdp",          "pytorch-eager", DType::bf16, Sharding::parameters,
                          Recompute::none, fsdp_kept};
constexpr Family kFlat = {"fsdp 1", "llm-foundry", DType::bf16, Sharding::parameters, Recompute::none, flat};
constexpr Family kMegatron = {"megatron",          "megatron-core", DType::bf16,
                              Sharding::optimizer, Recompute::none, megatron};
constexpr Family kReplicated = {"ddp",          "megatron-deepspeed", DType::fp16,
                                Sharding::none, Recompute::full,      replicated};

struct Choice {
  const Family* family;
  std::string_view model;
  std::string_view system;
  int tensor_parallel = 1;
};

constexpr std::array kChoices = {Choice{&kRecomputed, "llama-3-8b", "a100-sxm-80gb-8"},
                                 Choice{&kRecomputed, "llama-3-8b", "h100-sxm-8"},
                                 Choice{&kRecomputed, "llama-3-8b", "b200-sxm-8"},
                                 Choice{&kRecomputed, "llama-3-8b", "mi300x-8"},
                                 Choice{&kRecomputed, "llama-2-13b", "h200-sxm-8"},
                                 Choice{&kRecomputed, "mistral-7b", "a100-sxm-40gb-8"},
                                 Choice{&kKept, "llama-3-8b", "a100-sxm-80gb-8"},
                                 Choice{&kKept, "llama-3-8b", "h200-sxm-8"},
                                 Choice{&kKept, "llama-2-7b", "h100-sxm-8"},
                                 Choice{&kKept, "llama-2-13b", "b200-sxm-8"},
                                 Choice{&kKept, "mistral-7b", "mi300x-8"},
                                 Choice{&kKept, "llama-2-7b", "h100-96gb-hbm2e-8"},
                                 Choice{&kFlat, "gpt3-1.3b", "a100-sxm-40gb-8"},
                                 Choice{&kFlat, "gpt3-1.3b", "a100-sxm-80gb-8"},
                                 Choice{&kFlat, "gpt3-2.7b", "a100-sxm-80gb-8"},
                                 Choice{&kFlat, "gpt3-6.7b", "a100-sxm-80gb-8"},
                                 Choice{&kFlat, "gpt3-6.7b", "h100-sxm-8"},
                                 Choice{&kFlat, "gpt3-13b", "h200-sxm-8"},
                                 Choice{&kMegatron, "llama-3-8b", "h100-sxm-8", 2},
                                 Choice{&kMegatron, "llama-3-8b", "a100-sxm-80gb-8", 4},
                                 Choice{&kMegatron, "llama-2-13b", "h100-sxm-8", 8},
                                 Choice{&kMegatron, "llama-2-13b", "b200-sxm-8", 4},
                                 Choice{&kMegatron, "llama-2-7b", "mi300x-8", 2},
                                 Choice{&kMegatron, "mistral-7b", "h200-sxm-8", 8},
                                 Choice{&kReplicated, "gpt3-1.3b", "a100-sxm-40gb-8"},
                                 Choice{&kReplicated, "gpt3-1.3b", "a100-sxm-80gb-8"},
                                 Choice{&kReplicated, "gpt3-2.7b", "a100-sxm-80gb-8"},
                                 Choice{&kReplicated, "gpt3-2.7b", "h100-sxm-8"},
                                 Choice{&kReplicated, "gpt3-6.7b", "h200-sxm-8"},
                                 Choice{&kReplicated, "gpt3-6.7b", "b200-sxm-8"}};

TrainingSetup setup_of(const Choice& choice) {
  const Family& family = *choice.family;
  TrainingSetup setup{.model = load_model(std::string(choice.model)),
                      .framework = load_framework(std::string(family.framework)),
                      .host = load_host(usual_host_of(std::string(family.framework))),
                      .dtype = family.dtype};
  setup.tensor_parallel = choice.tensor_parallel;
  setup.sequence_parallel = choice.tensor_parallel > 1;
  setup.sharding = family.sharding;
  setup.recompute = family.recompute;
  return setup;
}

/// Sets tokens for \p target times \p room: one sequence, or many of a quarter of the model's positions.
void set_tokens(TrainingSetup& setup, const Count& count, double room, double target) {
  const double tokens = (target * room - count.fixed) / count.per_token;
  if (setup.model.positions > 0) {
    setup.sequence = setup.model.positions / 4;
    setup.micro_batch = std::llround(tokens / static_cast<double>(setup.sequence));
    return;
  }
  constexpr std::int64_t kMultiple = 128;
  setup.sequence = kMultiple * std::llround(tokens / kMultiple);
}

LargeLayout layout_of(const Choice& choice, double target) {
  LargeLayout layout{.name = fmt::format("{} on {}, {}", choice.model, choice.system, choice.family->name),
                     .facts = {}};
  if (choice.tensor_parallel > 1) layout.name += fmt::format(" tp{}", choice.tensor_parallel);
  Experiment experiment;
  experiment.name = layout.name;
  experiment.cluster = load_cluster(std::string(choice.system));
  TrainingSetup setup = setup_of(choice);
  const Count count = choice.family->count(Sizes(setup.model), setup, experiment.cluster.ranks());
  const double room = (experiment.cluster.gpu.hbm.size - setup.framework.reserved).value;
  set_tokens(setup, count, room, target);
  layout.needed = (count.fixed + count.per_token * static_cast<double>(setup.tokens())) / room;
  set_training(experiment, std::move(setup));
  layout.facts = *experiment.step;
  return layout;
}

}  // namespace

std::vector<LargeLayout> layouts_too_large() {
  constexpr std::array kTargets = {1.045, 1.053, 1.06, 1.07, 1.08, 1.085};
  std::vector<LargeLayout> layouts;
  for (std::size_t i = 0; i < kChoices.size(); ++i)
    layouts.push_back(layout_of(kChoices[i], kTargets[i % kTargets.size()]));
  return layouts;
}

}}  // namespace c3::studies
