#include "configs/jobs/recurrent_reader.hpp"

#include <array>
#include <cstddef>

#include <fmt/format.h>

#include "configs/presets/spec_readers.hpp"

namespace c3 { inline namespace configs {
namespace {

constexpr std::int64_t kWidest = 1'048'576;
constexpr std::int64_t kLongest = 1'048'576;
constexpr std::int64_t kMostSequences = 65'536;
constexpr std::int64_t kWidestKernel = 1024;
constexpr std::size_t kMostLayers = 256;

constexpr auto kKeys = std::to_array<KeyText>({
    {"batch", "sequences of each GPU"},
    {"sequence", "frames, or tokens of source and target together"},
    {"dtype", "data type of the products"},
    {"features", "of a frame; without it, sequences are tokens", std::int64_t{0}},
    {"classes", "of the output at each step"},
    {"attention", "width of the decoder's attention", std::int64_t{0}},
    {"front", "convolutions in front of the encoder"},
    {"encoder", "recurrent layers over the source or the frames"},
    {"decoder", "recurrent layers over the target, as long as the source"},
});

constexpr auto kConvolutionKeys = std::to_array<KeyText>({
    {"channels_in", "of the layer before; 1 of the first"},
    {"channels_out", "filters"},
    {"kernel_time", "frames"},
    {"kernel_features", "features"},
    {"stride_time", "frames", std::int64_t{1}},
    {"stride_features", "features", std::int64_t{1}},
});

RecurrentLayer read_layer(Section& section) {
  RecurrentLayer layer{.cell = section.choice<RecurrentCell>("cell"),
                       .inputs = section.integer("inputs", 1, kWidest),
                       .hidden = section.integer("hidden", 1, kWidest)};
  if (section.has("bidirectional")) layer.bidirectional = section.flag("bidirectional");
  section.explain("cell", "kind of cell");
  section.explain("inputs", "width of what it takes");
  section.explain("hidden", "width of the state, in each direction");
  section.explain("bidirectional", "whether a second one runs backwards; default: false");
  section.finish();
  return layer;
}

FrontConvolution read_convolution(Section& section) {
  FrontConvolution layer{.channels_in = section.integer("channels_in", 1, kWidest),
                         .channels_out = section.integer("channels_out", 1, kWidest),
                         .kernel_time = section.integer("kernel_time", 1, kWidestKernel),
                         .kernel_features = section.integer("kernel_features", 1, kWidestKernel)};
  if (section.has("stride_time")) layer.stride_time = section.integer("stride_time", 1, kWidestKernel);
  if (section.has("stride_features"))
    layer.stride_features = section.integer("stride_features", 1, kWidestKernel);
  section.explain(kConvolutionKeys);
  section.finish();
  return layer;
}

std::vector<RecurrentLayer> read_layers(Section& section, std::string_view key) {
  std::vector<RecurrentLayer> layers;
  for (Section& layer : section.tables(key, kMostLayers)) {
    layers.push_back(read_layer(layer));
    const auto& before = layers.size() > 1 ? layers[layers.size() - 2] : layers.back();
    const std::int64_t inputs = layers.back().inputs;
    // A layer takes the outputs of both directions, or their sum. A decoder's layers also get attention's
    // result.
    if (key == "encoder" && layers.size() > 1 && inputs != before.hidden &&
        !(before.bidirectional && inputs == 2 * before.hidden))
      layer.refuse("inputs", fmt::format("must be the {}{} of the layer before", before.hidden,
                                         before.bidirectional ? fmt::format(" or {}", 2 * before.hidden) : ""));
  }
  return layers;
}

/// What the convolutions in front take and leave.
void check_front(const Section& section, const RecurrentNetwork& network) {
  if (network.features == 0) section.refuse("front", "requires features, of a frame");
  std::int64_t channels = 1;
  for (const FrontConvolution& layer : network.front) {
    if (layer.channels_in != channels)
      section.refuse("front", fmt::format("channels_in must be the {} that are there", channels));
    channels = layer.channels_out;
  }
  const std::int64_t left = features_after(network.features, network.front);
  if (network.encoder.front().inputs != left)
    section.refuse("encoder", fmt::format("inputs of the first layer must be the {} that front leaves", left));
}

}  // namespace

RecurrentJob read_recurrent(Section& root) {
  Section section = root.table("recurrent");
  section.gather_conflicts();
  root.explain("recurrent", "a training step of a recurrent network; in place of [[stream]]");
  RecurrentJob job;
  RecurrentNetwork& network = job.network;
  job.batch = section.integer("batch", 1, kMostSequences);
  job.sequence = section.integer("sequence", 1, kLongest);
  job.dtype = read_dtype(section, "dtype");
  if (section.has("features")) network.features = section.integer("features", 0, kWidest);
  network.classes = section.integer("classes", 1, kWidest);
  if (section.has("attention")) network.attention = section.integer("attention", 0, kWidest);
  network.encoder = read_layers(section, "encoder");
  if (section.has("decoder")) network.decoder = read_layers(section, "decoder");
  const bool has_front = section.has("front");
  if (has_front) {
    for (Section& layer : section.tables("front", kMostLayers))
      network.front.push_back(read_convolution(layer));
    check_front(section, network);
  }
  if (!has_front && network.features > 0 && network.encoder.front().inputs != network.features)
    section.refuse("features",
                   fmt::format("must be the inputs of the first layer, {}", network.encoder.front().inputs));
  if (network.attention > 0 && network.decoder.empty()) section.refuse("attention", "requires a decoder");
  section.explain(kKeys);
  section.finish();
  network.parameters = count_parameters(network);
  return job;
}

}}  // namespace c3::configs
