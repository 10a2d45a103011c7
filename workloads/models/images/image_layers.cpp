#include "workloads/models/images/image_layers.hpp"

#include <numeric>
#include <utility>

#include "gpu/kernels/batch_norm/batch_norm_shape.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"

namespace c3 { inline namespace workloads {
namespace {

constexpr Bytes kMask{1};  // of dropout

/// An elementwise kernel over \p elements, as rows that it does not know.
VectorShape over(VectorOp op, std::int64_t elements, DType dtype, Pass pass = Pass::forward) {
  constexpr std::int64_t kRow = 1024;
  return {.chain = op, .rows = (elements + kRow - 1) / kRow, .cols = kRow, .dtype = dtype, .pass = pass};
}

}  // namespace

ImageLayer& ImageLayers::begin(std::string name) {
  return layers_.emplace_back(ImageLayer{.name = std::move(name)});
}

void ImageLayers::forward(std::string_view name, const Operator& op) {
  ImageLayer& layer = layers_.back();
  layer.forward.push_back({layer.name + "." + std::string(name), op});
}

void ImageLayers::backward(std::string_view name, const Operator& op) {
  ImageLayer& layer = layers_.back();
  if (batch_.trains()) layer.backward.push_back({layer.name + "." + std::string(name), op});
}

void ImageLayers::keep(const FeatureMap& map, Bytes per_element) {
  if (batch_.trains()) layers_.back().kept += static_cast<double>(all(map)) * per_element;
}

// Its gradient is a sum over rows and images.
void ImageLayers::bias(std::int64_t channels) {
  layers_.back().parameters += channels;
  const VectorOp op = here_.size == Extent2{1, 1} || batch_.layout == ImageLayout::nhwc
                          ? VectorOp::add_bias
                          : VectorOp::add_bias_nchw;
  forward("bias", over(op, all(here_), batch_.dtype));
  backward("bias", over(op, all(here_), batch_.dtype, Pass::backward));
}

void ImageLayers::convolution(std::string name, const Filters& filters) {
  const bool is_first = layers_.empty();
  ImageLayer& layer = begin(std::move(name));
  ConvolutionShape shape{.batch = batch_.images,
                         .channels = here_.channels,
                         .filters = filters.count,
                         .image = here_.size,
                         .filter = filters.size,
                         .pad = filters.pad,
                         .stride = filters.stride,
                         .dtype = batch_.dtype,
                         .layout = batch_.layout};
  layer.parameters = here_.channels * filters.count * filters.size.h * filters.size.w;
  layer.multiplications = direct_multiplications(shape) / static_cast<double>(batch_.images);
  forward("forward", shape);
  here_ = {filters.count, output_extent(shape)};
  if (filters.bias) bias(filters.count);
  for (const ConvolutionPass pass : {ConvolutionPass::data, ConvolutionPass::weight}) {
    if (is_first && pass == ConvolutionPass::data) continue;
    shape.pass = pass;
    backward(name_of(pass), shape);
  }
  keep(here_, element_size(batch_.dtype));
  layers_.back().output = here_;
}

void ImageLayers::batch_norm(std::string name) {
  ImageLayer& layer = begin(std::move(name));
  layer.parameters = 2 * here_.channels;
  BatchNormShape shape{.batch = batch_.images,
                       .channels = here_.channels,
                       .image = here_.size,
                       .dtype = batch_.dtype,
                       .layout = batch_.layout};
  batch_.trains() ? forward("forward", shape)
                  : forward("normalise", over(VectorOp::mul_scalar, all(here_), batch_.dtype));
  shape.pass = Pass::backward;
  backward("backward", shape);
  keep(here_, element_size(batch_.dtype));
  layers_.back().output = here_;
}

void ImageLayers::relu(std::string name) {
  begin(std::move(name));
  forward("forward", over(VectorOp::relu, all(here_), batch_.dtype));
  backward("backward", over(VectorOp::relu, all(here_), batch_.dtype, Pass::backward));
  layers_.back().output = here_;
}

void ImageLayers::pool(std::string name, PoolShape shape) {
  begin(std::move(name));
  shape.batch = batch_.images;
  shape.channels = here_.channels;
  shape.image = here_.size;
  shape.dtype = batch_.dtype;
  shape.layout = batch_.layout;
  forward("forward", shape);
  shape.pass = Pass::backward;
  backward("backward", shape);
  here_.size = output_extent(shape);
  keep(here_, element_size(batch_.dtype) + pool_index(shape.op));
  layers_.back().output = here_;
}

void ImageLayers::max_pool(std::string name, Extent2 window, Extent2 stride, Extent2 pad) {
  pool(std::move(name), {.op = PoolOp::max, .window = window, .stride = stride, .pad = pad});
}

void ImageLayers::mean_pool(std::string name, Extent2 window, Extent2 stride, Extent2 pad) {
  pool(std::move(name), {.op = PoolOp::average, .window = window, .stride = stride, .pad = pad});
}

// PyTorch's adaptive pool to one element is a mean over rows.
void ImageLayers::mean(std::string name) {
  begin(std::move(name));
  VectorShape shape{.chain = VectorOp::reduce,
                    .rows = batch_.images * here_.channels,
                    .cols = here_.size.h * here_.size.w,
                    .dtype = batch_.dtype};
  forward("forward", shape);
  shape.pass = Pass::backward;
  backward("backward", shape);
  here_.size = {1, 1};
  keep(here_, element_size(batch_.dtype));
  layers_.back().output = here_;
}

void ImageLayers::add(std::string name) {
  begin(std::move(name));
  const VectorShape sum = over(VectorOp::add, all(here_), batch_.dtype);
  forward("forward", sum);
  backward("gradients", sum);
  layers_.back().output = here_;
}

void ImageLayers::concatenate(std::string name, const std::vector<FeatureMap>& branches,
                              const FeatureMap& from) {
  begin(std::move(name));
  here_ = {0, branches.front().size};
  for (const FeatureMap& branch : branches)
    here_.channels += branch.channels;
  const VectorOp op = batch_.layout == ImageLayout::nhwc ? VectorOp::concatenate : VectorOp::copy;
  forward("forward", over(op, all(here_), batch_.dtype));
  for (std::size_t i = 1; i < branches.size(); ++i)
    backward("gradients", over(VectorOp::add, all(from), batch_.dtype));
  keep(here_, element_size(batch_.dtype));
  layers_.back().output = here_;
}

void ImageLayers::linear(std::string name, std::int64_t outputs) {
  ImageLayer& layer = begin(std::move(name));
  const std::int64_t inputs = here_.elements();
  const GemmShape shape{.m = batch_.images, .n = outputs, .k = inputs, .dtype = batch_.dtype};
  layer.parameters = inputs * outputs;
  layer.multiplications = static_cast<double>(inputs * outputs);
  forward("forward", shape);
  here_ = {outputs, {1, 1}};
  bias(outputs);
  const auto [data, weight] = c3::backward(shape);
  backward("data", data);
  backward("weight", weight);
  keep(here_, element_size(batch_.dtype));
  layers_.back().output = here_;
}

void ImageLayers::dropout(std::string name) {
  if (!batch_.trains()) return;
  begin(std::move(name));
  forward("forward", over(VectorOp::mul_scalar, all(here_), batch_.dtype));
  backward("backward", over(VectorOp::relu, all(here_), batch_.dtype, Pass::backward));  // with its mask
  keep(here_, element_size(batch_.dtype) + kMask);
  layers_.back().output = here_;
}

void ImageLayers::softmax(std::string name) {
  begin(std::move(name));
  VectorShape shape{
      .chain = VectorOp::softmax, .rows = batch_.images, .cols = here_.elements(), .dtype = batch_.dtype};
  forward("forward", shape);
  shape.pass = Pass::backward;
  backward("backward", shape);
  keep(here_, element_size(batch_.dtype));
  layers_.back().output = here_;
}

std::int64_t parameters_of(const std::vector<ImageLayer>& layers) {
  return std::accumulate(layers.begin(), layers.end(), std::int64_t{0},
                         [](std::int64_t sum, const ImageLayer& layer) { return sum + layer.parameters; });
}

double multiplications_of(const std::vector<ImageLayer>& layers) {
  return std::accumulate(layers.begin(), layers.end(), 0.0,
                         [](double sum, const ImageLayer& layer) { return sum + layer.multiplications; });
}

}}  // namespace c3::workloads
