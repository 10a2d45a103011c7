#pragma once
/// The way of a copy between a GPU and the memory of its host.

#include <vector>

#include "interconnect/link_layout.hpp"
#include "interconnect/link_set.hpp"
#include "interconnect/nic_links.hpp"

namespace c3 { inline namespace interconnect {

/// A copy takes the GPU's link to its processor, and that processor's memory: NodeSpec::c2c where there is one,
/// the wires to the nearest socket of a wired node that has some, or else the PCIe link, which is that of the
/// GPU's NICs where the node is joined to others. Where the memory's bandwidth is not known it limits nothing.
/// Wrong when: the NICs are not behind the GPU's PCIe switch; a PCIe switch has several GPUs and one link to
/// its processor; the copy's memory is another socket's.
class HostLinks {
 public:
  /// \param nics nullptr in a single node. Folded: GPU 0's link, and its part of the memory. All must outlive
  /// it. \throws InfeasibleError when nothing is known of a way to the host
  HostLinks(LinkLayout& layout, const NodeSpec& node, const NicLinks* nics, const LinkSet& links, bool folded);

  void add_out(Route& route, int gpu, Bytes bytes) const;  ///< what \p bytes take that \p gpu sends to its host
  /// What \p bytes take that \p gpu gets from its host.
  void add_in(Route& route, int gpu, Bytes bytes) const;
  /// What the host's own cores read and write of the memory next to \p gpu.
  void add_within(Route& route, int gpu, Bytes bytes) const;
  Seconds latency(int gpu) const;
  BytesPerSecond rate(int gpu) const;  ///< one way, with the link and the memory to itself

 private:
  const NodeSpec& node_;
  const NicLinks* nics_;
  const LinkSet& links_;
  bool is_wired_;                   ///< wires lead to sockets
  std::vector<DuplexPart> own_;     ///< one per GPU; empty where the way is that of others
  std::vector<ResourceId> memory_;  ///< one, or none where it is not known
};

}}  // namespace c3::interconnect
