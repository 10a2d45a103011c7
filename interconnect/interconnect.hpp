#pragma once
/// The links of a network as solver resources: within each node, and between nodes.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/fluid_system.hpp"
#include "interconnect/fabric.hpp"
#include "interconnect/folded_links.hpp"
#include "interconnect/host_links.hpp"
#include "interconnect/link_set.hpp"
#include "interconnect/nic_links.hpp"
#include "interconnect/spec.hpp"
#include "interconnect/switch_network.hpp"

namespace c3 { inline namespace interconnect {

/// Routes between ranks; rank r is GPU r % gpus of node r / gpus. Streams share the links, or have private
/// copies (a counterfactual). Folded, only routes from rank 0 exist, and traffic is taken to be the same on
/// every rank. Resources of several nodes begin with the node's name, "node3.port5.out".
class Interconnect {
 public:
  struct Setup {
    std::vector<std::string> streams;  ///< names; one set of links each when private_links
    bool private_links = false;
    bool folded = false;
    /// Ranks of a class have one GPU, and links that are loaded alike are one: sets of edges say how. Must
    /// outlive it; nullptr: every rank has its own.
    const RankPartition* classes = nullptr;
    LinkFolding folding = LinkFolding::mean;  ///< with classes
    /// With classes: links that were folded for the same network, classes and sets of edges, which are then not
    /// added again.
    std::shared_ptr<FoldedLinks> folded_before = nullptr;
    std::vector<LinkShares> shares = {};  ///< one per rank; empty: all links are sound. Not with `folded`
    bool reaches_hosts = false;           ///< whether bytes go to and from the memory of hosts
  };
  /// \throws InfeasibleError when ranks that see unlike links are to be folded, or several nodes have no fabric
  Interconnect(FluidSystem& fluid, const NetworkSpec& network, const Setup& setup);
  Interconnect(const Interconnect&) = delete;
  Interconnect& operator=(const Interconnect&) = delete;

  /// Appends what \p wire_bytes from \p src to \p dst take. Requires src != dst, both in [0, ranks); src == 0
  /// when folded.
  /// \param lane the flow's lane: where a hash chooses paths, each lane has its own
  /// \param messages the fewest messages between nodes, whatever their size; a fraction where a message is
  /// sent in parts
  /// \param alike folded only: so many GPUs, counted from 0, each send as far ahead as GPU 0 does (modulo their
  /// number); 0: all GPUs of the node do
  /// \param connections connections between nodes, which share the bytes: each has its queue pairs
  void add_route(std::vector<Demand>& demands, int stream, int src, int dst, Bytes wire_bytes, int lane = 0,
                 double messages = 1.0, int alike = 0, int connections = 1) const;
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

  /// What \p bytes between \p rank and the memory of its host take, or within that; kind is one of the three.
  /// Requires Setup::reaches_hosts, and no classes of ranks, which have edges of these kinds.
  void add_host(std::vector<Demand>& demands, int stream, EdgeKind kind, int rank, Bytes bytes) const;
  Seconds host_latency(int rank) const { return hosts_->latency(gpu_of(rank)); }
  BytesPerSecond host_rate(int rank) const { return hosts_->rate(gpu_of(rank)); }  ///< one way, of the link
  bool knows_host_memory() const { return network_.node.host.memory > BytesPerSecond{}; }

  /// With classes of ranks: edges that progress together, each with \p bytes, before fold_links().
  EdgeSetId add_edges(std::vector<Edge> edges, Bytes bytes) {
    return folded_links_->add(std::move(edges), bytes.value);
  }
  /// All edges of one collective have been added.
  std::size_t end_call() { return folded_links_->end_call(); }
  /// No more edges come: adds one link of each class. Without classes, and again, nothing.
  void fold_links();
  /// With classes, for an interconnect whose Setup has them as folded_before.
  const std::shared_ptr<FoldedLinks>& folded_links() const { return folded_links_; }
  double inequity() const { return folded_links_->inequity(); }  ///< see FoldedLinks, as the next two
  double inequity_of(std::size_t call) const { return folded_links_->inequity_of(call); }
  const std::vector<std::uint64_t>& traces_of_ranks() const { return folded_links_->traces_of_ranks(); }
  /// What \p wire_bytes on each edge of \p set take, each in \p messages between nodes. After
  /// fold_links().
  void add_set(std::vector<Demand>& demands, int stream, EdgeSetId set, Bytes wire_bytes,
               double messages) const;
  /// What the first edge of \p set takes alone; of two links of a class one after the other.
  void add_first(std::vector<Demand>& demands, int stream, EdgeSetId set, Bytes wire_bytes,
                 double messages) const;

  Seconds latency(int src, int dst) const;  ///< all hops of the route
  int ranks() const { return network_.ranks(); }
  const NodeSpec& node() const { return network_.node; }
  int node_of(int rank) const { return rank / network_.node.gpus; }
  /// Whether what goes from \p src to \p dst, two different ranks, leaves through a NIC: always between nodes,
  /// within one where GPUs reach each other in no other way.
  bool crosses(int src, int dst) const {
    return node_of(src) != node_of(dst) || !links_->joins(gpu_of(src), gpu_of(dst));
  }

 private:
  void add_switches(std::vector<Demand>& demands, ResourceId first, int src, int dst, Bytes wire_bytes,
                    int lane, int connections) const;
  /// The rank of the sender's node by whose NIC it leaves: \p src itself where nothing is relayed.
  int relay_of(int src, int dst) const;
  int nic_number(int rank, const NicRange& range, int rail) const;
  ResourceId first_of(int stream) const;
  void check_fabric_reduces(int rank) const;
  void check_nics(int src, int dst) const;  ///< \throws InfeasibleError where the way needs NICs and has none
  void check_links() const;
  void make_folded_links(const RankPartition& classes, LinkFolding folding);
  void add_uses(const Edge& edge, std::vector<FoldedLinks::Use>& uses) const;
  Bytes taken(const FoldedLinks::Share& share, Bytes wire_bytes, double messages) const;
  void add_resources(const std::string& suffix);
  /// The capacity of the link that is number \p part of \p node.
  BytesPerSecond capacity(std::size_t part, int node) const;
  int gpu_of(int rank) const { return rank % network_.node.gpus; }
  /// Over links of the node of \p rank, as \p stream sees them.
  Route route_in(std::vector<Demand>& demands, int stream, int rank) const;
  void add_host_way(Route& route, EdgeKind kind, int gpu, Bytes bytes) const;
  void check_switch(int rank) const;

  NetworkSpec network_;
  bool folded_;
  LinkLayout layout_;                        ///< one node's links
  std::size_t node_parts_ = 0;               ///< those of it that lie within the node, which come first
  std::unique_ptr<LinkSet> links_;           ///< within a node
  std::optional<NicLinks> nics_;             ///< only with several nodes
  std::optional<HostLinks> hosts_;           ///< with Setup::reaches_hosts
  std::unique_ptr<SwitchNetwork> switches_;  ///< behind all nodes' links; nullptr: a single switch
  std::vector<ResourceId> firsts_;           ///< first resource of each stream's links; one when shared
  FluidSystem& fluid_;
  std::vector<std::string> suffixes_;          ///< name suffix of each copy of the links
  std::vector<LinkShares> shares_;             ///< one per rank; empty: all links are sound
  std::shared_ptr<FoldedLinks> folded_links_;  ///< with classes of ranks
  bool has_links_ = false;                     ///< whether those were added
};

/// Directed rings over \p members (different GPUs of the node), no two using the same link in the same
/// direction. Each lists the members in order, from the first. Full mesh: as many as a deterministic search
/// finds, members - 1 being the most there can be (for 4 and 6 members 2 less than that; they leave the links
/// between opposite members idle). Switched: one ring in the order of the members, which fills every port.
/// Wired: every ring with its reverse, over links that join members directly. When there is none, one ring over
/// routes, from each member to the nearest that is left.
std::vector<std::vector<int>> disjoint_rings(const NodeSpec& spec, std::span<const int> members);

}}  // namespace c3::interconnect
