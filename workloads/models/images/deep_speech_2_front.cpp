// The convolutions in front of Deep Speech 2 (arXiv 1512.02595) over the spectrogram of ten seconds, of which
// recurrent_networks.hpp has the rest. Each is followed by a norm and a clipped rectifier.

#include <fmt/format.h>

#include "workloads/models/images/image_network.hpp"
#include "workloads/models/recurrent_networks.hpp"

namespace c3 { inline namespace workloads {
namespace {

void write_front(ImageLayers& net) {
  int number = 1;
  for (const FrontConvolution& layer : deep_speech_2().front) {
    const std::string name = fmt::format("conv{}", number++);
    net.convolution(name, {.count = layer.channels_out,
                           .size = {layer.kernel_features, layer.kernel_time},
                           .stride = {layer.stride_features, layer.stride_time},
                           .pad = {layer.kernel_features / 2, layer.kernel_time / 2}});
    net.batch_norm(name + ".norm");
    net.relu(name + ".relu");
  }
}

}  // namespace

extern constexpr ImageNetworkEntry kDeepSpeech2Front = {
    .name = "deep-speech-2-front", .input = {1, {161, 1000}}, .write = write_front};

}}  // namespace c3::workloads
