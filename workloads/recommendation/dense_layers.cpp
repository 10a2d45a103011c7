#include "workloads/recommendation/dense_layers.hpp"

#include <array>
#include <ranges>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "gpu/kernels/vector/vector_shape.hpp"

namespace c3 { inline namespace workloads {
namespace {

using Kind = OperatorOverheads;

VectorShape vector(VectorOp op, std::int64_t rows, std::int64_t cols, DType dtype, Pass pass = Pass::forward) {
  return {.chain = op, .rows = rows, .cols = cols, .dtype = dtype, .pass = pass};
}

/// Vectors that the interaction multiplies with each other.
std::int64_t vectors_of(const RecommendationJob& job) { return std::ssize(job.tables) + 1; }

std::int64_t parameters_of(std::int64_t inputs, const std::vector<std::int64_t>& outputs, std::size_t from) {
  std::int64_t sum = 0;
  for (std::size_t i = from; i < outputs.size(); ++i) {
    sum += (inputs + 1) * outputs[i];
    inputs = outputs[i];
  }
  return sum;
}

auto projected_tables(const RecommendationJob& job) {
  return job.tables | std::views::filter(&EmbeddingTable::is_projected);
}

}  // namespace

struct DenseLayers::Layer {
  std::string name;
  std::int64_t inputs = 0, outputs = 0;
  bool is_first = false;  ///< its inputs need no gradient
  bool is_last = false;   ///< a sigmoid follows instead of a ReLU
};

std::int64_t interaction_width(const RecommendationJob& job) {
  const std::int64_t vectors = vectors_of(job);
  return job.bottom.back() + vectors * (vectors - 1) / 2;
}

DenseParameters dense_parameters(const RecommendationJob& job) {
  std::int64_t projections = 0;
  for (const EmbeddingTable& table : projected_tables(job))
    projections += table.cols * job.bottom.back();
  return {.bottom = parameters_of(job.bottom.front(), job.bottom, 1) + projections,
          .top = parameters_of(interaction_width(job), job.top, 0)};
}

std::vector<DenseLayers::Layer> DenseLayers::bottom_layers() const {
  std::vector<Layer> layers;
  for (std::size_t i = 1; i < job_.bottom.size(); ++i)
    layers.push_back({.name = fmt::format("bottom.{}", i - 1),
                      .inputs = job_.bottom[i - 1],
                      .outputs = job_.bottom[i],
                      .is_first = i == 1});
  return layers;
}

std::vector<DenseLayers::Layer> DenseLayers::top_layers() const {
  std::vector<Layer> layers;
  std::int64_t inputs = interaction_width(job_);
  for (std::size_t i = 0; i < job_.top.size(); ++i) {
    layers.push_back({.name = fmt::format("top.{}", i),
                      .inputs = inputs,
                      .outputs = job_.top[i],
                      .is_last = i + 1 == job_.top.size()});
    inputs = job_.top[i];
  }
  return layers;
}

std::vector<HostedOperator> DenseLayers::forward(const std::vector<Layer>& layers) const {
  std::vector<HostedOperator> ops;
  for (const Layer& layer : layers) {
    const GemmShape product{.m = samples_, .n = layer.outputs, .k = layer.inputs, .dtype = job_.dtype};
    ops.push_back({.name = layer.name + ".transpose"});
    ops.push_back({.kind = &Kind::linear, .name = layer.name, .kernels = {product}});
    const VectorOp function = layer.is_last ? VectorOp::exp : VectorOp::relu;
    ops.push_back({.kind = layer.is_last ? &Kind::other : &Kind::relu,
                   .name = layer.name + (layer.is_last ? ".sigmoid" : ".relu"),
                   .kernels = {vector(function, samples_, layer.outputs, job_.dtype)}});
  }
  return ops;
}

std::vector<HostedOperator> DenseLayers::backward(const std::vector<Layer>& layers) const {
  std::vector<HostedOperator> ops;
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
    const GemmShape forward{.m = samples_, .n = layer->outputs, .k = layer->inputs, .dtype = job_.dtype};
    const std::array<GemmShape, 2> gradients = c3::backward(forward);
    ops.push_back({.name = layer->name + (layer->is_last ? ".sigmoid.backward" : ".relu.backward"),
                   .kernels = {vector(VectorOp::relu, samples_, layer->outputs, job_.dtype, Pass::backward)}});
    HostedOperator linear{.kind = &Kind::linear_backward, .name = layer->name + ".backward"};
    if (!layer->is_first) linear.kernels.emplace_back(gradients[0]);
    linear.kernels.emplace_back(gradients[1]);
    linear.kernels.emplace_back(vector(VectorOp::reduce, layer->outputs, samples_, job_.dtype));  // of the bias
    ops.push_back(std::move(linear));
    ops.push_back({.name = layer->name + ".transpose.backward"});
    for (const std::int64_t inputs : {layer->inputs, std::int64_t{1}})
      ops.push_back({.kind = &Kind::accumulate,
                     .name = layer->name + ".accumulate",
                     .kernels = {vector(VectorOp::copy, layer->outputs, inputs, job_.dtype)}});
  }
  return ops;
}

std::vector<HostedOperator> DenseLayers::bottom_forward() const { return forward(bottom_layers()); }

GemmShape DenseLayers::projection_of(const EmbeddingTable& table) const {
  return {.m = samples_, .n = job_.bottom.back(), .k = table.cols, .dtype = job_.dtype};
}

std::vector<HostedOperator> DenseLayers::projections_forward() const {
  std::vector<HostedOperator> ops;
  for (const EmbeddingTable& table : projected_tables(job_))
    ops.push_back({.kind = &Kind::linear, .name = table.name + ".project", .kernels = {projection_of(table)}});
  return ops;
}

std::vector<HostedOperator> DenseLayers::projections_backward() const {
  std::vector<HostedOperator> ops;
  for (const EmbeddingTable& table : projected_tables(job_)) {
    const std::array<GemmShape, 2> gradients = c3::backward(projection_of(table));
    ops.push_back({.kind = &Kind::linear_backward,
                   .name = table.name + ".project.backward",
                   .kernels = {gradients[0], gradients[1]}});
    ops.push_back({.kind = &Kind::accumulate,
                   .name = table.name + ".project.accumulate",
                   .kernels = {vector(VectorOp::copy, job_.bottom.back(), table.cols, job_.dtype)}});
  }
  return ops;
}

std::vector<HostedOperator> DenseLayers::interaction_forward() const {
  const std::int64_t vectors = vectors_of(job_);
  const std::int64_t width = job_.bottom.back();
  const std::int64_t pairs = vectors * (vectors - 1) / 2;
  const GemmShape product{.m = vectors, .n = vectors, .k = width, .dtype = job_.dtype, .batch = samples_};
  return {{.kind = &Kind::cat,
           .name = "interaction.cat",
           .kernels = {vector(VectorOp::copy, samples_, vectors * width, job_.dtype)}},
          {.name = "interaction.transpose"},
          {.kind = &Kind::bmm, .name = "interaction.bmm", .kernels = {product}},
          {.name = "interaction.tril", .kernels = {vector(VectorOp::copy, samples_, pairs, job_.dtype)}},
          {.kind = &Kind::cat,
           .name = "interaction.join",
           .kernels = {vector(VectorOp::copy, samples_, interaction_width(job_), job_.dtype)}}};
}

std::vector<HostedOperator> DenseLayers::top_forward() const {
  std::vector<HostedOperator> ops = forward(top_layers());
  ops.push_back({.name = "loss", .kernels = {vector(VectorOp::add, samples_, 1, job_.dtype)}});
  ops.push_back({.name = "loss.mean", .kernels = {vector(VectorOp::reduce, 1, samples_, job_.dtype)}});
  return ops;
}

std::vector<HostedOperator> DenseLayers::top_backward() const {
  std::vector<HostedOperator> ops = {
      {.name = "loss.mean.backward", .kernels = {vector(VectorOp::copy, samples_, 1, job_.dtype)}},
      {.name = "loss.backward", .kernels = {vector(VectorOp::add, samples_, 1, job_.dtype)}}};
  for (HostedOperator& op : backward(top_layers()))
    ops.push_back(std::move(op));
  return ops;
}

std::vector<HostedOperator> DenseLayers::interaction_backward() const {
  const std::int64_t vectors = vectors_of(job_);
  const std::int64_t width = job_.bottom.back();
  const std::int64_t pairs = vectors * (vectors - 1) / 2;
  // Both products read the gradient of all pairs of vectors, and the vectors.
  const GemmShape product{.m = vectors, .n = width, .k = vectors, .dtype = job_.dtype, .batch = samples_};
  return {
      {.kind = &Kind::cat,
       .name = "interaction.join.backward",
       .kernels = {vector(VectorOp::copy, samples_, width, job_.dtype),
                   vector(VectorOp::copy, samples_, pairs, job_.dtype)}},
      gather_backward(),
      {.kind = &Kind::bmm, .name = "interaction.bmm.backward", .kernels = {product, product}},
      {.name = "interaction.add", .kernels = {vector(VectorOp::add, samples_, vectors * width, job_.dtype)}},
      {.kind = &Kind::cat,
       .name = "interaction.cat.backward",
       .kernels = {vector(VectorOp::copy, samples_, vectors * width, job_.dtype)}}};
}

HostedOperator DenseLayers::gather_backward() const {
  constexpr int kPasses = 8;         // of 8 bits of a position
  constexpr std::int64_t kPair = 4;  // position and origin, of 8 bytes each, in words of 4
  const std::int64_t vectors = vectors_of(job_);
  const std::int64_t pairs = vectors * (vectors - 1) / 2;
  HostedOperator op{.name = "interaction.tril.backward",
                    .kernels = {vector(VectorOp::copy, samples_, vectors * vectors, job_.dtype)}};  // zeros
  for (int pass = 0; pass < kPasses; ++pass)
    op.kernels.emplace_back(vector(VectorOp::copy, samples_ * pairs, kPair, DType::fp32));
  op.kernels.emplace_back(vector(VectorOp::copy, samples_, pairs, job_.dtype));
  return op;
}

std::vector<HostedOperator> DenseLayers::bottom_backward() const { return backward(bottom_layers()); }

std::vector<Operator> DenseLayers::of_parameters(bool updates) const {
  std::vector<Operator> kernels;
  for (const std::vector<Layer>& layers : {bottom_layers(), top_layers()}) {
    for (const Layer& layer : layers) {
      // An update adds a multiple of the gradient, as `add` reads two tensors and writes one.
      for (const std::int64_t inputs : {layer.inputs, std::int64_t{1}})
        kernels.emplace_back(
            vector(updates ? VectorOp::add : VectorOp::copy, layer.outputs, inputs, job_.dtype));
    }
  }
  for (const EmbeddingTable& table : projected_tables(job_))
    kernels.emplace_back(
        vector(updates ? VectorOp::add : VectorOp::copy, job_.bottom.back(), table.cols, job_.dtype));
  return kernels;
}

HostedOperator DenseLayers::zero_gradients() const {
  return {.kind = &Kind::zero_grad, .name = "zero_grad", .kernels = of_parameters(false)};
}

HostedOperator DenseLayers::optimizer() const {
  return {.kind = &Kind::optimizer, .name = "sgd", .kernels = of_parameters(true)};
}

}}  // namespace c3::workloads
