#pragma once
/// The wires of a node over PCIe: cards, switches, processors.

#include <map>
#include <string>
#include <vector>

#include "importers/machines/gpu_join.hpp"
#include "importers/machines/machine.hpp"

namespace c3 { inline namespace importers {

struct NodeWires {
  std::vector<std::string> wires = {};        ///< "gpu0 - sw0", as nodes have them
  std::map<std::string, PcieLink> pcie = {};  ///< kinds of PCIe links by name
  bool has_nvlink_kind = false;               ///< kind "nvlink": `link_*` is PCIe, and there are links, too
  std::vector<std::string> sockets = {};      ///< processors that wires name
  std::vector<std::string> nic_at = {};
};

/// Wires between GPUs of \p join, and where those do not join all GPUs, of PCIe as well. \param plain PCIe
/// links that are the node's `link_*`; one that says nothing where `link_*` is another kind of link.
NodeWires wires_of(const Machine& machine, const GpuJoin& join, const PcieLink& plain, int own_generation);

}}  // namespace c3::importers
