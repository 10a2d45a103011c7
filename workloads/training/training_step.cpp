#include "workloads/training/training_step.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "workloads/training/step_composer.hpp"

namespace c3 {

std::string_view name_of(KernelStyle style) {
  switch (style) {
    case KernelStyle::eager:
      return "eager";
    case KernelStyle::compiled:
      return "compiled";
    case KernelStyle::megatron:
      return "megatron";
  }
  throw std::logic_error("name_of: unknown kernel style");
}

// The last query sees all keys, each one before it one less.
Flops matrix_flops(const Operator& op) {
  if (const auto* gemm = std::get_if<GemmShape>(&op))
    return Flops{2.0 * static_cast<double>(gemm->batch) * static_cast<double>(gemm->m) *
                 static_cast<double>(gemm->n) * static_cast<double>(gemm->k)};
  const auto* attention = std::get_if<AttentionShape>(&op);
  if (attention == nullptr) return {};
  const auto queries = static_cast<double>(attention->queries);
  const auto keys = static_cast<double>(attention->keys);
  const double pairs = queries * (attention->causal ? keys - 0.5 * (queries - 1.0) : keys);
  const double products = attention->pass == Pass::forward ? 2.0 : 5.0;
  return Flops{products * 2.0 * pairs * static_cast<double>(attention->batch * attention->heads) *
               static_cast<double>(attention->head_dim)};
}

namespace {

Bytes written(const VectorShape& shape) {
  const VectorOpTraits& last = traits(*(shape.chain.end() - 1));
  const bool forward = shape.pass == Pass::forward;
  const auto rows = static_cast<double>(shape.rows);
  const double cols =
      shape.chain.first() == VectorOp::reduce && forward ? 1.0 : static_cast<double>(shape.cols);
  const double tensors =
      shape.chain.first() == VectorOp::reduce && forward ? 1.0 : (forward ? last.writes : last.backward_writes);
  return element_size(shape.dtype) * (tensors * rows * cols);
}

Bytes written(const GemmShape& gemm) {
  return element_size(gemm.dtype) *
         (static_cast<double>(gemm.batch) * static_cast<double>(gemm.m) * static_cast<double>(gemm.n));
}

Bytes written(const AttentionShape& shape) {
  const auto width = static_cast<double>(shape.batch * shape.head_dim);
  const double queries = width * static_cast<double>(shape.heads * shape.queries);
  const double keys = width * static_cast<double>(shape.kv_heads * shape.keys);
  return element_size(shape.dtype) * (shape.pass == Pass::forward ? queries : queries + 2.0 * keys);
}

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
}

}  // namespace

Bytes output_bytes(const Operator& op) {
  return std::visit([](const auto& shape) { return written(shape); }, op);
}

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
  experiment.streams = std::move(step.streams);
  experiment.host = std::move(step.host);
  experiment.step = std::move(step.facts);
}

}  // namespace c3
