#include "configs/training_reader.hpp"

#include <fmt/format.h>

#include <array>

#include "configs/model_reader.hpp"
#include "configs/spec_readers.hpp"

namespace c3::inline configs {
namespace {

constexpr std::int64_t kLongest = 16'777'216;
constexpr std::int64_t kMost = 65'536;

/// Sequences: of a micro-batch, and how many micro-batches, which a global batch may say.
void read_batch(Section& section, TrainingSetup& setup, int ranks) {
  setup.sequence = section.integer("sequence", 1, kLongest);
  setup.micro_batch = section.integer("micro_batch", 1, kMost);
  if (section.has("micro_batches")) setup.micro_batches = section.integer("micro_batches", 1, kMost);
  if (!section.has("global_batch")) return;
  const std::int64_t global = section.integer("global_batch", 1, kMost * kMost);
  if (section.is_rehearsal()) return;
  if (section.has("micro_batches"))
    section.fail("global_batch", "cannot be combined with micro_batches: either one determines the other");
  const std::int64_t at_once = setup.micro_batch * (ranks / setup.tensor_parallel);
  if (global % at_once != 0)
    section.fail("global_batch",
                 fmt::format("{} is not a multiple of {}, micro_batch times {} data-parallel ranks", global,
                             at_once, ranks / setup.tensor_parallel));
  setup.micro_batches = global / at_once;
}

void read_parallelism(Section& section, TrainingSetup& setup, int ranks) {
  if (section.has("sharding")) setup.sharding = section.choice<Sharding>("sharding");
  if (section.has("reshard_after_forward")) {
    setup.reshard_after_forward = section.flag("reshard_after_forward");
    if (setup.sharding != Sharding::parameters && !section.is_rehearsal())
      section.fail("reshard_after_forward", "requires sharding = \"fsdp\"");
  }
  if (section.has("tensor_parallel"))
    setup.tensor_parallel = static_cast<int>(section.integer("tensor_parallel", 1, 4096));
  if (section.has("sequence_parallel")) setup.sequence_parallel = section.flag("sequence_parallel");
  if (section.has("async_chunks"))
    setup.async_chunks = static_cast<int>(section.integer("async_chunks", 1, 64));
  if (section.is_rehearsal()) return;
  if (ranks % setup.tensor_parallel != 0)
    section.fail("tensor_parallel",
                 fmt::format("{} does not divide the {} ranks of the system", setup.tensor_parallel, ranks));
  if (setup.tensor_parallel > 1) return;
  if (setup.sequence_parallel) section.fail("sequence_parallel", "requires tensor_parallel > 1 (it is 1)");
  if (setup.async_chunks > 1) section.fail("async_chunks", "requires tensor_parallel > 1 (it is 1)");
}

void read_recompute(Section& section, TrainingSetup& setup) {
  if (section.has("recompute")) setup.recompute = section.choice<Recompute>("recompute");
  if (!section.has("recompute_every")) return;
  setup.recompute_every = section.integer("recompute_every", 1, 4096);
  if (setup.recompute == Recompute::none && !section.is_rehearsal())
    section.fail("recompute_every",
                 "requires recompute = \"selective\", \"attention\" or \"full\" (it is \"none\")");
}

/// What the model must be for a step of it.
void check_model(Section& section, const TrainingSetup& setup) {
  const ModelDimensions& model = setup.model;
  const int share = setup.tensor_parallel;
  const auto divides = [&](std::string_view what, std::int64_t count) {
    if (count % share == 0) return;
    section.fail("tensor_parallel", fmt::format("{} does not divide {}, which is {}", share, what, count));
  };
  divides("the model's heads", model.heads);
  divides("the model's kv_heads", model.kv_heads);
  divides("the model's ffn", model.ffn);
  if (setup.sequence_parallel) divides("the tokens of a micro-batch", setup.tokens());
  if (setup.tokens() % setup.async_chunks != 0)
    section.fail("async_chunks", fmt::format("{} does not divide the tokens of a micro-batch, which are {}",
                                             setup.async_chunks, setup.tokens()));
  if (model.positions > 0 && setup.sequence > model.positions)
    section.fail("sequence", fmt::format("must not exceed the {} positions of the model (it is {})",
                                         model.positions, setup.sequence));
  if (setup.recompute_every > model.layers)
    section.fail("recompute_every", fmt::format("must not exceed the model's {} layers (it is {})",
                                                model.layers, setup.recompute_every));
}

void check_model(Section& model, const ModelDimensions& dimensions) {
  if (dimensions.vocabulary == 0)
    model.fail("vocabulary", "is missing; a training step requires it for the embedding and the logits");
  if (dimensions.experts)
    model.fail("experts", "mixture-of-experts models are not supported in training steps");
  if (dimensions.structure == Structure::encoder_decoder)
    model.fail("structure", "encoder-decoder models are not supported in training steps");
  if (dimensions.relative_buckets > 0)
    model.fail("relative_buckets", "relative position biases are not supported in training steps");
  if (dimensions.norm_after)
    model.fail("norm_after", "models with norms after their blocks are not supported in training steps");
}

}  // namespace

TrainingSetup read_training(Section& root, const Sampling& sampling, int ranks) {
  Section section = root.table("training", sampling);
  Section framework = root.table("framework", sampling);
  Section model = root.table("model", sampling);
  TrainingSetup setup;
  setup.framework = read_framework(framework);
  setup.dtype = read_dtype(model, "dtype");
  if (setup.dtype == DType::fp8 && !model.is_rehearsal()) {
    model.fail("dtype",
               "training in fp8 is not supported: a step needs a recipe (which products are fp8, how they are "
               "scaled, what stays in bf16); use \"bf16\"");
  }
  setup.model = read_model(model);
  read_parallelism(section, setup, ranks);
  read_batch(section, setup, ranks);
  read_recompute(section, setup);
  section.finish();
  if (section.is_rehearsal()) return setup;
  check_model(model, setup.model);
  check_model(section, setup);
  return setup;
}

}  // namespace c3::configs
