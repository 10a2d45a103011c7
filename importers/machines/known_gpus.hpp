#pragma once
/// The GPU preset that a file means, and the shipped nodes that have such GPUs.

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "importers/machines/machine.hpp"

namespace c3 { inline namespace importers {

/// What boards of a GPU preset have in common.
struct GpuBoard {
  std::string_view preset;
  int pcie = 0;       ///< generation of the GPU's own end of PCIe
  double link = 0.0;  ///< GB/s of one NVLink or xGMI link, one direction; 0: it has none
  /// Shipped nodes of this GPU, or of the one most like it, whose links, library and host stand for its own.
  std::array<std::string_view, 3> nodes = {};
};

/// nullptr: c3sim has no node for it.
const GpuBoard* board_of(std::string_view preset);

/// A GPU that a file names.
struct FoundGpu {
  std::string preset;   ///< empty: c3sim has none
  std::string product;  ///< for people: "H100 SXM5 80GB"
  std::string as = {};  ///< why the preset of another part is right; empty: it is this part's own
};

/// Looks for the PCI id first, then the product, then chip and units. Absent when the file names none.
std::optional<FoundGpu> gpu_named(const GpuNames& names);

/// What c3sim needs of a GPU that has no preset, as one sentence.
std::string missing_preset(const FoundGpu& gpu);

}}  // namespace c3::importers
