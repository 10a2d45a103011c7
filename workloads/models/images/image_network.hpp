#pragma once
/// Networks of images by name. One file each, listed in networks.cpp.

#include <span>
#include <string_view>

#include "base/table_entry.hpp"
#include "workloads/models/images/image_layers.hpp"

namespace c3 { inline namespace workloads {

struct ImageNetworkEntry {
  std::string_view name;
  FeatureMap input;             ///< an image as the network was published with
  void (*write)(ImageLayers&);  ///< every layer; what only training has, where batch().trains()
};

extern const ImageNetworkEntry kResNet50;

class ImageNetwork : public TableEntry<ImageNetworkEntry> {
 public:
  using TableEntry::TableEntry;

  static const ImageNetwork resnet_50;
};

inline constexpr ImageNetwork ImageNetwork::resnet_50{kResNet50};

/// All networks that an experiment can name.
extern const std::span<const ImageNetwork> kImageNetworks;

std::string_view name_of(ImageNetwork network);

/// The layers of \p network for \p batch.
std::vector<ImageLayer> layers_of(ImageNetwork network, const ImageBatch& batch);

}}  // namespace c3::workloads
