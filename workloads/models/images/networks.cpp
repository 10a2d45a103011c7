// The table of networks of images: one line each, in the order in which they are listed.

#include <array>

#include "workloads/models/images/image_network.hpp"

namespace c3 { inline namespace workloads {

extern const ImageNetworkEntry kInceptionV3, kVgg16, kLeNet5, kDeepSpeech2Front;

namespace {

constexpr std::array kNetworks = {ImageNetwork(kResNet50), ImageNetwork(kInceptionV3), ImageNetwork(kVgg16),
                                  ImageNetwork(kLeNet5), ImageNetwork(kDeepSpeech2Front)};

}  // namespace

constinit const std::span<const ImageNetwork> kImageNetworks = kNetworks;

std::string_view name_of(ImageNetwork network) { return network->name; }

std::vector<ImageLayer> layers_of(ImageNetwork network, const ImageBatch& batch) {
  ImageLayers layers(batch, network->input);
  network->write(layers);
  return layers.take();
}

}}  // namespace c3::workloads
