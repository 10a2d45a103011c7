// ResNet-50 (He et al., arXiv 1512.03385) as torchvision has it: the 3 x 3 convolution of a block takes its
// stride.

#include <array>

#include <fmt/format.h>

#include "workloads/models/images/image_network.hpp"

namespace c3 { inline namespace workloads {
namespace {

constexpr std::int64_t kExpansion = 4;

struct Stage {
  int blocks;
  std::int64_t width, stride;
};
constexpr std::array<Stage, 4> kStages = {{{3, 64, 1}, {4, 128, 2}, {6, 256, 2}, {3, 512, 2}}};

void normalised(ImageLayers& net, const std::string& name, const Filters& filters) {
  net.convolution(name, filters);
  net.batch_norm(name + ".norm");
}

void block(ImageLayers& net, const std::string& name, std::int64_t width, std::int64_t stride) {
  const FeatureMap input = net.here();
  normalised(net, name + ".conv1", {.count = width});
  net.relu(name + ".relu1");
  normalised(net, name + ".conv2", {.count = width, .size = {3, 3}, .stride = {stride, stride}, .pad = {1, 1}});
  net.relu(name + ".relu2");
  normalised(net, name + ".conv3", {.count = kExpansion * width});
  if (input != net.here()) {
    net.go_to(input);
    normalised(net, name + ".shortcut", {.count = kExpansion * width, .stride = {stride, stride}});
  }
  net.add(name + ".add");
  net.relu(name + ".relu3");
}

void write_resnet_50(ImageLayers& net) {
  normalised(net, "conv1", {.count = 64, .size = {7, 7}, .stride = {2, 2}, .pad = {3, 3}});
  net.relu("relu1");
  net.max_pool("pool1", {3, 3}, {2, 2}, {1, 1});
  for (std::size_t stage = 0; stage < kStages.size(); ++stage) {
    for (int i = 0; i < kStages[stage].blocks; ++i)
      block(net, fmt::format("stage{}.{}", stage + 2, i), kStages[stage].width,
            i == 0 ? kStages[stage].stride : 1);
  }
  net.mean("mean");
  net.linear("classes", 1000);
  net.softmax("softmax");
}

}  // namespace

extern constexpr ImageNetworkEntry kResNet50 = {
    .name = "resnet-50", .input = {3, {224, 224}}, .write = write_resnet_50};

}}  // namespace c3::workloads
