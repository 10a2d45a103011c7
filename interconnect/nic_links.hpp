#pragma once
/// The way of a transfer out of its node: the GPU's PCIe link, then its NICs.

#include <vector>

#include "interconnect/fabric.hpp"
#include "interconnect/link_layout.hpp"
#include "interconnect/link_set.hpp"

namespace c3 { inline namespace interconnect {

class NicLinks {
 public:
  /// Adds the NICs of \p fabric to \p layout, and the PCIe links of \p node, or leads over \p links where the
  /// node says at which vertex its NICs are. Folded: GPU 0's alone, with its share of a NIC that others use,
  /// too. All must outlive it.
  NicLinks(LinkLayout& layout, const NodeSpec& node, const FabricSpec& fabric, const LinkSet& links,
           bool folded);

  /// What \p wire_bytes from and to \p gpu of the node take; they spread evenly over its NICs.
  /// \param messages at least, on each NIC
  void add_out(Route& route, int gpu, Bytes wire_bytes, double messages) const;
  void add_in(Route& route, int gpu, Bytes wire_bytes, double messages) const;
  Seconds latency(int gpu) const;  ///< between the GPU and its NICs

  /// Like add_out() and add_in(), for bytes alone, without what their messages take.
  void add_bytes_out(Route& route, int gpu, Bytes wire_bytes) const;
  void add_bytes_in(Route& route, int gpu, Bytes wire_bytes) const;
  /// What goes over the PCIe link of \p gpu and not on to its NICs. Requires GPUs with PCIe links of their own.
  void add_pcie_out(Route& route, int gpu, Bytes bytes) const;
  void add_pcie_in(Route& route, int gpu, Bytes bytes) const;
  /// Whether \p part of the layout is a NIC's, which messages hold.
  bool is_nic(ResourceId part) const {
    return !nics_.empty() && part >= nics_.front().forward && part <= nics_.back().duplex;
  }
  /// The time for which \p messages (at least) of \p wire_bytes hold a NIC, as bytes at its rate.
  Bytes with_messages(Bytes wire_bytes, double messages) const;

  NicRange range_of(int gpu) const { return nics_of(gpu, node_.gpus, fabric_.nics_per_node); }

 private:
  int vertex_of(int nic) const;
  /// \param of_nic what a NIC takes of its part of the bytes
  template <class OfNic>
  void spread_out(Route& route, int gpu, Bytes wire_bytes, OfNic of_nic) const;
  template <class OfNic>
  void spread_in(Route& route, int gpu, Bytes wire_bytes, OfNic of_nic) const;

  const NodeSpec& node_;
  const FabricSpec& fabric_;
  const LinkSet& links_;
  std::vector<DuplexPart> pcie_;  ///< one per GPU; forward is out; empty where NICs are at vertices
  std::vector<DuplexPart> nics_;  ///< forward is out
};

}}  // namespace c3::interconnect
