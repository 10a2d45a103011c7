#include "workloads/training/image_step.hpp"

#include <algorithm>
#include <ranges>
#include <vector>

#include "gpu/kernels/vector/vector_shape.hpp"
#include "workloads/program/program_builder.hpp"
#include "workloads/program/step_writer.hpp"
#include "workloads/training/data_parallel.hpp"
#include "workloads/training/memory_ledger.hpp"

namespace c3 { inline namespace workloads {
namespace {

constexpr Bytes kFirstBucket{1.0 * kMebi};  // as PyTorch's DDP: the first sum begins early

bool casts(const ImageBatch& batch) { return batch.dtype != DType::fp32; }

Bytes in_fp32(std::int64_t parameters) { return static_cast<double>(parameters) * element_size(DType::fp32); }

class ImageStep {
 public:
  ImageStep(const ImageJob& job, int ranks)
      : job_(job),
        ranks_(ranks),
        layers_(layers_of(job.network, job.batch)),
        writer_(builder_, job.overheads),
        compute_(builder_.stream("compute")) {
    if (job.batch.trains() && ranks > 1) gradients_ = builder_.stream("gradients");
  }

  Program write() {
    const std::int64_t parameters = parameters_of(layers_);
    if (job_.batch.trains() && casts(job_.batch))
      kernel("cast parameters", fp32_copy(parameters, job_.batch.dtype));
    for (const ImageLayer& layer : layers_)
      run(layer.name + " forward", layer.forward);
    if (job_.batch.trains()) learn(parameters);
    writer_.finish();
    return builder_.take();
  }

 private:
  /// Runs the backward pass from the last layer on, sums gradients and runs the optimizer.
  void learn(std::int64_t parameters) {
    for (const ImageLayer& layer : layers_ | std::views::reverse) {
      run(layer.name + " backward", layer.backward);
      ready_ += layer.parameters;
      if (in_fp32(ready_) >= (is_first_ ? std::min(kFirstBucket, job_.bucket) : job_.bucket)) sum();
    }
    sum();
    if (has_sums_) writer_.order(gradients_, compute_, "gradients summed");
    builder_.set_range("optimizer");
    kernel("sgd", flat(VectorOp::sgd, parameters, DType::fp32), &OperatorOverheads::optimizer);
  }

  void kernel(const std::string& name, const Operator& op, OperatorKind kind = &OperatorOverheads::other) {
    writer_.run(compute_, {.kind = kind, .name = name, .kernels = {op}});
  }

  void run(const std::string& range, const std::vector<NamedOperator>& kernels) {
    builder_.set_range(range);
    for (const NamedOperator& named : kernels)
      kernel(named.name, named.op);
  }

  /// The gradients that are ready, over all ranks.
  void sum() {
    if (ready_ == 0) return;
    builder_.set_range("gradients");
    if (casts(job_.batch)) kernel("cast gradients", fp32_copy(ready_, job_.batch.dtype));
    if (ranks_ > 1) {
      writer_.order(compute_, gradients_, "gradients ready");
      writer_.collective(gradients_, "gradients",
                         {.kind = CollectiveKind::all_reduce, .bytes = in_fp32(ready_), .dtype = DType::fp32});
      has_sums_ = true;
    }
    ready_ = 0;
    is_first_ = false;
  }

  const ImageJob& job_;
  int ranks_;
  std::vector<ImageLayer> layers_;
  ProgramBuilder builder_;
  StepWriter writer_;
  ProgramBuilder::Stream compute_;
  ProgramBuilder::Stream gradients_ = 0;
  std::int64_t ready_ = 0;  ///< parameters whose gradients no bucket has taken
  bool is_first_ = true;    ///< of the buckets
  bool has_sums_ = false;
};

/// Tensors of a step, in the order of its kernels.
class ImageLedger {
 public:
  ImageLedger(const ImageJob& job, int ranks)
      : job_(job),
        ranks_(ranks),
        layers_(layers_of(job.network, job.batch)),
        parameters_(parameters_of(layers_)) {}

  StageMemory step() {
    hold(MemoryClass::weights, "parameters", in_fp32(parameters_));
    hold(MemoryClass::optimizer, "momentum", in_fp32(parameters_));
    if (ranks_ > 1) hold(MemoryClass::communication, "buckets", in_fp32(parameters_));
    ledger_.begin_step();
    ledger_.set_moment("forward");
    if (casts(job_.batch)) hold(MemoryClass::weights, "cast parameters", in_batch_type(parameters_));
    activation("images", of(job_.network->input));
    std::vector<Tensor> kept;
    for (const ImageLayer& layer : layers_)
      kept.push_back(activation(layer.name, layer.kept));
    ledger_.set_moment("backward");
    for (std::size_t i = layers_.size(); i-- > 0;) {
      const FeatureMap& input = i == 0 ? job_.network->input : layers_[i - 1].output;
      const Tensor output_gradient = activation("gradient of an output", of(layers_[i].output));
      const Tensor input_gradient = activation("gradient of an input", of(input));
      hold(MemoryClass::gradients, "gradients", in_fp32(layers_[i].parameters));
      for (const Tensor tensor : {output_gradient, input_gradient, kept[i]})
        ledger_.release(tensor);
    }
    ledger_.set_moment("optimizer");
    return {ledger_.peak(), ledger_.moments()};
  }

  StageMemory inference() {
    hold(MemoryClass::weights, "parameters", in_batch_type(parameters_));
    ledger_.begin_step();
    ledger_.set_moment("forward");
    Tensor input = activation("images", of(job_.network->input));
    for (const ImageLayer& layer : layers_) {
      const Tensor output = activation(layer.name, of(layer.output));
      ledger_.release(input);
      input = output;
    }
    return {ledger_.peak(), ledger_.moments()};
  }

 private:
  using Tensor = MemoryLedger::Tensor;
  static constexpr std::size_t kCompute = 0;  // the stream whose pool they are of

  Bytes in_batch_type(std::int64_t numbers) const {
    return static_cast<double>(numbers) * element_size(job_.batch.dtype);
  }
  Bytes of(const FeatureMap& map) const { return in_batch_type(job_.batch.images * map.elements()); }
  void hold(MemoryClass of_class, const std::string& name, Bytes bytes) {
    if (bytes.value > 0.0) ledger_.allocate(kCompute, of_class, name, bytes);
  }
  Tensor activation(const std::string& name, Bytes bytes) {
    return ledger_.allocate(kCompute, MemoryClass::activations, name, bytes);
  }

  const ImageJob& job_;
  int ranks_;
  std::vector<ImageLayer> layers_;
  std::int64_t parameters_;
  MemoryLedger ledger_;
};

}  // namespace

Program image_program(const ImageJob& job, int ranks) { return ImageStep(job, ranks).write(); }

StageMemory memory_of(const ImageJob& job, int ranks) {
  ImageLedger ledger(job, ranks);
  return job.batch.trains() ? ledger.step() : ledger.inference();
}

}}  // namespace c3::workloads
