// VGG-16 (Simonyan and Zisserman, arXiv 1409.1556, configuration D), without norms, as torchvision has it.

#include <array>

#include <fmt/format.h>

#include "workloads/models/images/image_network.hpp"

namespace c3 { inline namespace workloads {
namespace {

struct PooledConvolutions {
  int convolutions;
  std::int64_t filters;
};
constexpr std::array<PooledConvolutions, 5> kGroups = {{{2, 64}, {2, 128}, {3, 256}, {3, 512}, {3, 512}}};

void write_vgg_16(ImageLayers& net) {
  for (std::size_t group = 0; group < kGroups.size(); ++group) {
    for (int i = 0; i < kGroups[group].convolutions; ++i) {
      const std::string name = fmt::format("conv{}_{}", group + 1, i + 1);
      net.convolution(name, {.count = kGroups[group].filters, .size = {3, 3}, .pad = {1, 1}, .bias = true});
      net.relu(name + ".relu");
    }
    net.max_pool(fmt::format("pool{}", group + 1), {2, 2}, {2, 2});
  }
  for (const char* name : {"linear1", "linear2"}) {
    net.linear(name, 4096);
    net.relu(std::string(name) + ".relu");
    net.dropout(std::string(name) + ".dropout");
  }
  net.linear("classes", 1000);
  net.softmax("softmax");
}

}  // namespace

extern constexpr ImageNetworkEntry kVgg16 = {.name = "vgg-16", .input = {3, {224, 224}}, .write = write_vgg_16};

}}  // namespace c3::workloads
