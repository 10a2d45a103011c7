#pragma once
/// The way of a transfer out of its node: the GPU's PCIe link, then its NICs.

#include <vector>

#include "interconnect/fabric.hpp"
#include "interconnect/link_layout.hpp"

namespace c3 {

class NicLinks {
 public:
  /// Adds the NICs of \p fabric to \p layout, and the PCIe links of \p node. Folded: GPU 0's alone, with its
  /// share of a NIC that others use, too.
  NicLinks(LinkLayout& layout, const NodeSpec& node, const FabricSpec& fabric, bool folded);

  /// What \p wire_bytes from and to \p gpu of the node take; they spread evenly over its NICs.
  void add_out(Route& route, int gpu, Bytes wire_bytes) const;
  void add_in(Route& route, int gpu, Bytes wire_bytes) const;

 private:
  NicRange range_of(int gpu) const { return nics_of(gpu, gpus_, nic_count_); }

  int gpus_;
  int nic_count_;
  std::vector<DuplexPart> pcie_;  ///< by GPU; forward is out
  std::vector<DuplexPart> nics_;  ///< forward is out
};

}  // namespace c3
