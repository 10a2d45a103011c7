#pragma once
/// The wires of a node, written as texts such as "gpu0 - gpu1 x4" and "cpu0 - cpu1 socket".

#include <span>

#include "configs/toml/section.hpp"
#include "interconnect/spec.hpp"

namespace c3 { inline namespace configs {

/// Reads `wires` into \p node, whose GPUs and other_links are known, with the hubs that they name.
/// \param kinds names of node.other_links, in their order, and where they are written. Each must be used, and a
/// path must join every pair of GPUs.
void read_wires(Section& section, std::span<const ChosenKey> kinds, NodeSpec& node);

/// The vertices of `nic_at`, one for each slot. The wires of \p node have been read.
void read_nic_places(Section& section, NodeSpec& node);

/// The hubs of `sockets`. The wires of \p node have been read.
void read_sockets(Section& section, NodeSpec& node);

}}  // namespace c3::configs
