#pragma once
/// The links of a network as solver resources: within each node, and between nodes.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/fluid_system.hpp"
#include "interconnect/fabric.hpp"
#include "interconnect/link_set.hpp"
#include "interconnect/nic_links.hpp"
#include "interconnect/spec.hpp"
#include "interconnect/switch_network.hpp"

namespace c3::inline interconnect {

/// Routes between ranks; rank r is GPU r % gpus of node r / gpus. Streams share the links, or have private
/// copies (a counterfactual). Folded, only routes from rank 0 exist, and traffic is taken to be the same on
/// every rank. Resources of several nodes begin with the node's name, "node3.port5.out".
class Interconnect {
 public:
  struct Setup {
    std::vector<std::string> streams;  ///< names; one set of links each when private_links
    bool private_links = false;
    bool folded = false;
  };
  /// \throws InfeasibleError when ranks that see unlike links are to be folded, or several nodes have no fabric
  Interconnect(FluidSystem& fluid, const NetworkSpec& network, const Setup& setup);
  Interconnect(const Interconnect&) = delete;
  Interconnect& operator=(const Interconnect&) = delete;

  /// Appends what \p wire_bytes from \p src to \p dst take. Requires src != dst, both in [0, ranks); src == 0
  /// when folded. \param lane of the flow: where paths are chosen by a hash, each lane has its own.
  /// \param messages between nodes at least, whatever their size; a part of one where it is sent in parts
  /// \param alike folded: of so many GPUs, from 0 on, each sends as far ahead as 0 does, round again; 0: of all
  /// of the node
  void add_route(std::vector<Demand>& demands, int stream, int src, int dst, Bytes wire_bytes, int lane = 0,
                 double messages = 1.0, int alike = 0) const;
  /// What the port of \p rank sends to its node's switch that reads, adds or multicasts itself, and what it
  /// gets from there. Requires rank in [0, ranks); 0 when folded. \throws InfeasibleError when GPUs are not
  /// joined by a switch
  void add_to_switch(std::vector<Demand>& demands, int stream, int rank, Bytes wire_bytes) const;
  void add_from_switch(std::vector<Demand>& demands, int stream, int rank, Bytes wire_bytes) const;

  /// What a rank sends over its NICs to switches of the fabric that add or multicast, and what it gets from
  /// there. Between switches goes one copy for each, which is never the most that a link carries.
  /// \throws InfeasibleError when the fabric's do not
  void add_to_fabric(std::vector<Demand>& demands, int stream, int rank, Bytes wire_bytes,
                     double messages = 1.0) const;
  void add_from_fabric(std::vector<Demand>& demands, int stream, int rank, Bytes wire_bytes,
                       double messages = 1.0) const;

  Seconds latency(int src, int dst) const;  ///< of all hops of the route
  int ranks() const { return network_.ranks(); }
  const NodeSpec& node() const { return network_.node; }
  int node_of(int rank) const { return rank / network_.node.gpus; }

 private:
  void add_switches(std::vector<Demand>& demands, int stream, int src, int dst, Bytes wire_bytes,
                    int lane) const;
  int nic_number(int rank, const NicRange& range, int rail) const;
  ResourceId first_of(int stream) const;
  void check_fabric_reduces(int rank) const;
  void check_links() const;
  void add_resources(FluidSystem& fluid, const std::string& suffix);
  int gpu_of(int rank) const { return rank % network_.node.gpus; }
  /// Over links of the node of \p rank, as \p stream sees them.
  Route route_in(std::vector<Demand>& demands, int stream, int rank) const;
  void check_switch(int rank) const;

  NetworkSpec network_;
  bool folded_;
  LinkLayout layout_;                        ///< of one node
  std::unique_ptr<LinkSet> links_;           ///< within a node
  std::optional<NicLinks> nics_;             ///< of several nodes
  std::unique_ptr<SwitchNetwork> switches_;  ///< behind all nodes' links; nullptr: a single switch
  std::vector<ResourceId> firsts_;           ///< first resource of each stream's links; one when shared
};

/// Directed rings over \p members (different GPUs of the node), no two using the same link in the same
/// direction. Each lists the members in order, from the first. Full mesh: as many as a deterministic search
/// finds, members - 1 being the most there can be (for 4 and 6 members 2 less than that; they leave the links
/// between opposite members idle). Switched: one ring in the order of the members, which fills every port.
/// Wired: every ring with its reverse, over links that join members directly. When there is none, one ring over
/// routes, from each member to the nearest that is left.
std::vector<std::vector<int>> disjoint_rings(const NodeSpec& spec, std::span<const int> members);

}  // namespace c3::interconnect
