#include "workloads/training/training_step.hpp"

#include <fmt/format.h>

#include <memory>
#include <stdexcept>
#include <utility>

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

class TrainingFamily : public ProgramFamily {
 public:
  explicit TrainingFamily(TrainingSetup setup) : setup_(std::move(setup)) {}

  const TrainingSetup& setup() const { return setup_; }
  StepSize size() const override { return {setup_.model.layers, setup_.micro_batches}; }
  std::int64_t layer_period() const override { return setup_.recompute_every; }

  std::shared_ptr<const ProgramFamily> at(const StepSize& size) const override {
    TrainingSetup setup = setup_;
    setup.model.layers = size.layers;
    setup.micro_batches = size.micro_batches;
    return std::make_shared<const TrainingFamily>(std::move(setup));
  }

  WrittenStep write(const ClusterSpec& cluster) const override {
    WrittenStep step = training_step(setup_, cluster.ranks());
    step.facts.peak = matrix_rate(cluster.gpu, setup_.dtype).peak;
    step.facts.memory_size = cluster.gpu.hbm.size - setup_.framework.reserved;
    return step;
  }

  bool writes_same(const ProgramFamily& other) const override {
    const auto* const training = dynamic_cast<const TrainingFamily*>(&other);
    return training != nullptr && training->setup_ == setup_;
  }

 private:
  TrainingSetup setup_;
};

}  // namespace

WrittenStep training_step(const TrainingSetup& setup, int ranks) {
  check(setup, ranks);
  return StepComposer(setup, ranks).compose();
}

void set_training(Experiment& experiment, TrainingSetup setup) {
  set_step(experiment, std::make_shared<const TrainingFamily>(std::move(setup)));
}

const TrainingSetup& training_of(const Experiment& experiment) {
  const auto* const training =
      experiment.family ? dynamic_cast<const TrainingFamily*>(&*experiment.family) : nullptr;
  if (training == nullptr) throw std::logic_error("training_of: the experiment is not a training step");
  return training->setup();
}

}  // namespace c3::workloads
