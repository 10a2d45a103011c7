#include "workloads/training/image_step.hpp"

#include <algorithm>
#include <ranges>
#include <vector>

#include "gpu/kernels/vector/vector_shape.hpp"
#include "workloads/program/program_builder.hpp"
#include "workloads/training/data_parallel.hpp"

namespace c3::inline workloads {
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
        compute_(builder_.stream("compute")) {
    if (job.batch.trains() && ranks > 1) gradients_ = builder_.stream("gradients");
  }

  Program write() {
    const std::int64_t parameters = parameters_of(layers_);
    if (job_.batch.trains() && casts(job_.batch))
      kernel("cast parameters", fp32_copy(parameters, job_.batch.dtype));
    for (const ImageLayer& layer : layers_)
      run(layer.name + " forward", layer.forward);
    if (!job_.batch.trains()) return builder_.take();
    for (const ImageLayer& layer : layers_ | std::views::reverse) {
      run(layer.name + " backward", layer.backward);
      ready_ += layer.parameters;
      if (in_fp32(ready_) >= (is_first_ ? std::min(kFirstBucket, job_.bucket) : job_.bucket)) sum();
    }
    sum();
    for (const EventId summed : summed_)
      builder_.wait(compute_, summed);
    builder_.set_range("optimizer");
    kernel("sgd", flat(VectorOp::sgd, parameters, DType::fp32));
    return builder_.take();
  }

 private:
  void kernel(const std::string& name, const Operator& op) { builder_.kernel(compute_, name, op); }

  void run(const std::string& range, const std::vector<NamedOperator>& kernels) {
    builder_.set_range(range);
    for (const NamedOperator& each : kernels)
      kernel(each.name, each.op);
  }

  /// The gradients that are ready, over all ranks.
  void sum() {
    if (ready_ == 0) return;
    builder_.set_range("gradients");
    if (casts(job_.batch)) kernel("cast gradients", fp32_copy(ready_, job_.batch.dtype));
    if (ranks_ > 1) {
      const EventId ready = builder_.event("gradients ready");
      builder_.record(compute_, ready);
      builder_.wait(gradients_, ready);
      builder_.collective(gradients_, "gradients",
                          {.kind = CollectiveKind::all_reduce, .bytes = in_fp32(ready_), .dtype = DType::fp32});
      summed_.push_back(builder_.event("gradients summed"));
      builder_.record(gradients_, summed_.back());
    }
    ready_ = 0;
    is_first_ = false;
  }

  const ImageJob& job_;
  int ranks_;
  std::vector<ImageLayer> layers_;
  ProgramBuilder builder_;
  ProgramBuilder::Stream compute_;
  ProgramBuilder::Stream gradients_ = 0;
  std::int64_t ready_ = 0;  ///< parameters whose gradients no bucket has taken
  bool is_first_ = true;    ///< of the buckets
  std::vector<EventId> summed_;
};

}  // namespace

Program image_program(const ImageJob& job, int ranks) { return ImageStep(job, ranks).write(); }

ImageMemory memory_of(const ImageJob& job, int ranks) {
  const std::vector<ImageLayer> layers = layers_of(job.network, job.batch);
  const std::int64_t parameters = parameters_of(layers);
  const Bytes element = element_size(job.batch.dtype);
  const auto images = static_cast<double>(job.batch.images);
  ImageMemory memory;
  FeatureMap before = job.network->input;
  if (!job.batch.trains()) {
    memory.weights = static_cast<double>(parameters) * element;
    for (const ImageLayer& layer : layers) {
      const auto both = static_cast<double>(before.elements() + layer.output.elements());
      memory.activations = std::max(memory.activations, images * both * element);
      before = layer.output;
    }
    return memory;
  }
  memory.weights = in_fp32(parameters);
  if (casts(job.batch)) memory.weights += static_cast<double>(parameters) * element;
  memory.gradients = memory.optimizer = in_fp32(parameters);
  if (ranks > 1) memory.buckets = in_fp32(parameters);
  memory.activations = images * static_cast<double>(before.elements()) * element;
  for (const ImageLayer& layer : layers)
    memory.activations += layer.kept;
  return memory;
}

}  // namespace c3::workloads
