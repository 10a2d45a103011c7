#include "workloads/training/training_step.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "workloads/training/step_composer.hpp"

namespace c3::inline workloads {

namespace {

void check(const TrainingSetup& setup, int ranks) {
  const ModelDimensions& model = setup.model;
  const auto divides = [](std::int64_t count, std::int64_t by, const std::string& what) {
    if (count % by != 0) throw std::invalid_argument(fmt::format("{} is not a multiple of {}", what, by));
  };
  const std::int64_t share = setup.tensor_parallel;
  divides(ranks, share, fmt::format("the number of ranks, {},", ranks));
  divides(model.heads, share, fmt::format("heads = {}", model.heads));
  divides(model.kv_heads, share, fmt::format("kv_heads = {}", model.kv_heads));
  divides(model.ffn, share, fmt::format("ffn = {}", model.ffn));
  if (setup.sequence_parallel)
    divides(setup.tokens(), share, fmt::format("{} tokens of a micro-batch", setup.tokens()));
  divides(setup.tokens(), setup.async_chunks, fmt::format("{} tokens of a micro-batch", setup.tokens()));
  if (model.vocabulary == 0) throw std::invalid_argument("the model has no 'vocabulary'");
  if (model.experts)
    throw std::invalid_argument("mixture-of-experts models are not supported in training steps");
  if (model.structure == Structure::encoder_decoder)
    throw std::invalid_argument("encoder-decoder models are not supported in training steps");
  if (model.norm_after)
    throw std::invalid_argument("models with norms after their blocks are not supported in training steps");
}

}  // namespace

TrainingStep training_step(const TrainingSetup& setup, int ranks) {
  check(setup, ranks);
  return StepComposer(setup, ranks).compose();
}

void compose_training(Experiment& experiment) {
  const TrainingSetup& setup = *experiment.training;
  const GpuSpec& gpu = experiment.cluster.gpu;
  TrainingStep step = training_step(setup, experiment.cluster.ranks());
  step.facts.peak = matrix_rate(gpu, setup.dtype).peak;
  step.facts.memory_size = gpu.hbm.size - setup.framework.reserved;
  experiment.program = std::move(step.program);
  experiment.step = std::move(step.facts);
}

}  // namespace c3::workloads
