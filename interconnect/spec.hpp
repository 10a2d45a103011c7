#pragma once
/// What joins the GPUs of a node. Immutable; read from configs/nodes/*.toml.

#include <string>

#include "engine/units.hpp"

namespace c3 {

enum class NodeTopology {
  full_mesh,  ///< one link for each pair of GPUs
  switched,   ///< one port for each GPU to a switch that never blocks
};

/// A full-duplex link between two GPUs, or the port of one to the switch. Rates are payload bytes of one
/// direction.
struct LinkSpec {
  BytesPerSecond raw;        ///< signalling rate: the lower bound's rate
  BytesPerSecond one_way;    ///< usable when the reverse direction is idle
  BytesPerSecond both_ways;  ///< usable per direction when both directions are busy; <= one_way
  Seconds latency;           ///< per hop

  bool operator==(const LinkSpec&) const = default;
};

struct NodeSpec {
  std::string name;
  NodeTopology topology = NodeTopology::full_mesh;
  int gpus = 1;
  LinkSpec link;

  bool operator==(const NodeSpec&) const = default;
};

/// Raw rate at which one GPU can send over all its links.
BytesPerSecond raw_egress(const NodeSpec& node);

}  // namespace c3
