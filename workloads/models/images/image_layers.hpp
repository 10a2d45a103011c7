#pragma once
/// Networks of images, written layer after layer: the kernels of each, its parameters, and what it keeps.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_names.hpp"
#include "gpu/kernels/convolution/convolution_shape.hpp"
#include "gpu/kernels/operator.hpp"
#include "gpu/kernels/pool/pool_shape.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace workloads {

/// What is between two layers, of one image.
struct FeatureMap {
  std::int64_t channels = 1;
  Extent2 size = {};

  std::int64_t elements() const { return channels * size.h * size.w; }
  bool operator==(const FeatureMap&) const = default;
};

/// What a network is run for.
enum class ImagePass : std::uint8_t {
  training,   ///< forward, backward and optimizer
  inference,  ///< forward alone, with the statistics of norms as they were learned
};
constexpr auto enum_names(ImagePass) {
  return std::to_array<EnumName<ImagePass>>(
      {{"training", ImagePass::training}, {"inference", ImagePass::inference}});
}

/// Images that a GPU takes at once, and how.
struct ImageBatch {
  std::int64_t images = 1;
  DType dtype = DType::fp16;
  ImageLayout layout = ImageLayout::nchw;
  ImagePass pass = ImagePass::training;

  bool trains() const { return pass == ImagePass::training; }
  bool operator==(const ImageBatch&) const = default;
};

struct NamedOperator {
  std::string name;
  Operator op;
};

struct ImageLayer {
  std::string name;
  std::int64_t parameters = 0;
  double multiplications = 0;                ///< of products, forward, of one image
  std::vector<NamedOperator> forward = {};   ///< in the order of launch
  std::vector<NamedOperator> backward = {};  ///< likewise; empty in inference
  Bytes kept = {};                           ///< from forward to backward, of the batch; none in inference
  FeatureMap output = {};
};

/// Filters of a convolution; pads and strides as those of ConvolutionShape.
struct Filters {
  std::int64_t count = 1;
  Extent2 size = {};
  Extent2 stride = {};
  Extent2 pad = {0, 0};
  bool bias = false;
};

/// Writes layers as PyTorch's eager modules launch them: one after another, nothing fused, functions of a
/// tensor in place where torchvision's models have them so. Wrong when: a compiler fuses layers; branches run
/// on streams of their own.
class ImageLayers {
 public:
  ImageLayers(const ImageBatch& batch, const FeatureMap& input) : batch_(batch), here_(input) {}

  const ImageBatch& batch() const { return batch_; }
  /// What the next layer takes.
  const FeatureMap& here() const { return here_; }
  /// The next layer takes \p map, which an earlier one has made.
  void go_to(const FeatureMap& map) { here_ = map; }

  /// The first of a network makes no gradient of its input.
  void convolution(std::string name, const Filters& filters);
  void batch_norm(std::string name);
  void relu(std::string name);
  void max_pool(std::string name, Extent2 window, Extent2 stride, Extent2 pad = {0, 0});
  void mean_pool(std::string name, Extent2 window, Extent2 stride, Extent2 pad = {0, 0});
  /// Leaves the mean of each channel, one element.
  void mean(std::string name);
  /// Adds what another branch from the same place has made, of the same size. Backward their gradients add up.
  void add(std::string name);
  /// Puts channels of \p branches behind one another. Backward their gradients of \p from add up.
  void concatenate(std::string name, const std::vector<FeatureMap>& branches, const FeatureMap& from);
  void linear(std::string name, std::int64_t outputs);
  void dropout(std::string name);
  /// Softmax over all channels; its loss is below a kernel's noise.
  void softmax(std::string name);

  std::vector<ImageLayer> take() { return std::move(layers_); }

 private:
  /// The layer that is written now.
  ImageLayer& begin(std::string name);
  /// Elements of \p maps, of the batch.
  std::int64_t all(const FeatureMap& map) const { return batch_.images * map.elements(); }
  void forward(std::string_view name, const Operator& op);
  void backward(std::string_view name, const Operator& op);
  void keep(const FeatureMap& map, Bytes per_element);
  /// Its operator, window, stride and pad are those of \p shape.
  void pool(std::string name, PoolShape shape);
  void bias(std::int64_t channels);

  ImageBatch batch_;
  FeatureMap here_;
  std::vector<ImageLayer> layers_;
};

/// Sums over \p layers.
std::int64_t parameters_of(const std::vector<ImageLayer>& layers);
double multiplications_of(const std::vector<ImageLayer>& layers);

}}  // namespace c3::workloads
