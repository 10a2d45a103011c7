#include "collectives/tuner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "collectives/group_layout.hpp"
#include "collectives/transfer_graph.hpp"
#include "engine/errors.hpp"

namespace c3 {
namespace {

constexpr Bytes kMostOfPairInLl{16.0 * 1024.0};

Seconds microseconds(double count) { return Seconds{count * 1e-6}; }

using ByProtocol = std::array<double, 3>;  ///< [us]: ll, ll128, simple

/// A table of a library's tuner.
struct TunerTable {
  ByProtocol ring_base, tree_base;
  ByProtocol ring_hop, tree_hop;          ///< NVLink or xGMI
  ByProtocol ring_pcie, tree_pcie;        ///< PCIe
  ByProtocol ring_network, tree_network;  ///< between nodes
  double nvls, nvls_tree_network;         ///< protocol simple
};

constexpr TunerTable kNccl = {.ring_base = {6.6, 14.0, 8.4},
                              .tree_base = {6.8, 14.0, 8.4},
                              .ring_hop = {0.6, 1.9, 3.4},
                              .tree_hop = {0.6, 1.25, 4.0},
                              .ring_pcie = {1.0, 2.5, 5.7},
                              .tree_pcie = {1.0, 1.9, 4.0},
                              .ring_network = {2.7, 4.0, 14.0},
                              .tree_network = {5.0, 8.5, 14.0},
                              .nvls = 25.0,
                              .nvls_tree_network = 20.9};
/// Tuning model 5 (MI300X), here for all AMD GPUs, although RCCL has others for them; it offers no ll128.
constexpr TunerTable kRccl = {.ring_base = {12.0, 12.0, 17.0},
                              .tree_base = {12.0, 12.0, 17.0},
                              .ring_hop = {0.85, 1.5, 2.2},
                              .tree_hop = {0.85, 1.5, 2.2},
                              .ring_pcie = {1.0, 2.5, 5.7},
                              .tree_pcie = {1.0, 1.9, 5.7},
                              .ring_network = {10.0, 10.0, 320.0},
                              .tree_network = {10.0, 10.0, 25.0},
                              .nvls = 0.0,
                              .nvls_tree_network = 0.0};

/// What one channel reaches by GPU generation on 1, 2, more nodes [GB/s]; 0: not at all (NCCL 2.30.7).
struct GenerationCaps {
  std::array<double, 3> tree;  ///< protocol simple
  std::array<double, 3> tree_ll128;
  std::array<double, 3> nvls_tree;  ///< of eight
};
constexpr GenerationCaps kVoltaCaps = {{26.5, 18.5, 10.0}, {20.0, 20.0, 20.0}, {0.0, 0.0, 0.0}};
constexpr GenerationCaps kAmpereCaps = {{24.0, 23.6, 17.8}, {20.0, 20.0, 20.0}, {0.0, 0.0, 0.0}};
constexpr GenerationCaps kHopperCaps = {{38.7, 41.4, 36.0}, {36.7, 36.7, 29.0}, {0.0, 57.7, 45.5}};
constexpr GenerationCaps kBlackwellCaps = {{70.0, 42.8, 24.0}, {55.6, 31.67, 20.0}, {0.0, 96.0, 80.0}};
constexpr GenerationCaps kNoCaps = {{1e9, 1e9, 1e9}, {1e9, 1e9, 1e9}, {0.0, 0.0, 0.0}};

const GenerationCaps& caps_of(const ClusterSpec& cluster) {
  if (cluster.library.rules == TunerRules::rccl) return kNoCaps;
  switch (cluster.gpu.family) {
    case GpuFamily::hopper:
      return kHopperCaps;
    case GpuFamily::blackwell:
    case GpuFamily::blackwell_rtx:
      return kBlackwellCaps;
    case GpuFamily::ampere:
    case GpuFamily::ada:
      return kAmpereCaps;
    default:
      return kVoltaCaps;
  }
}

/// What a tree loses at 64 B, 128 B .. 256 MB, by protocol (NCCL 2.30.7, treeCorrectionFactor).
constexpr std::array<std::array<double, 24>, 3> kTreeCorrection = {
    {{1.0, 1.0, 1.0, 1.0, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1.0, 1.0, 1.0, 1.0, 1.0},
     {1.0, 1.0, 1.0, 1.0, 1.0, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1.0, 1.0, 1.0},
     {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9}}};

/// One call on one cluster, as a tuner sees it.
class Tuner {
 public:
  Tuner(const CollectiveCall& call, const ClusterSpec& cluster)
      : call_(call),
        library_(cluster.library),
        cluster_(cluster),
        table_(library_.rules == TunerRules::rccl ? kRccl : kNccl),
        caps_(caps_of(cluster)),
        over_pcie_(cluster.node.topology == NodeTopology::wired && !library_.ll128 &&
                   library_.rules == TunerRules::nccl),
        ranks_(call.ranks.empty() ? cluster.ranks() : static_cast<int>(call.ranks.size())),
        nodes_(layout_of(members_of(call, cluster.ranks()), cluster.node.gpus).node_count()),
        fabric_(cluster.fabric
                    ? cluster.fabric->nic.both_ways * static_cast<double>(cluster.fabric->nics_per_node)
                    : BytesPerSecond{}),
        searched_(nodes_ == 1 ? library_.channels : std::min(cluster.node.gpus, nics_of(cluster))),
        switch_reduces_(cluster.node.switch_reduces) {}

  std::optional<Seconds> time(Algorithm algorithm, Protocol protocol) const {
    const bool known = library_.tuner_bandwidth.value > 0.0;
    if (!known || !supports(algorithm, call_.kind) || !offers(library_, protocol)) return std::nullopt;
    if (!passes(protocol)) return std::nullopt;
    const auto index = static_cast<std::size_t>(protocol);
    switch (algorithm) {
      case Algorithm::ring:
        if (call_.kind == CollectiveKind::all_to_all) return std::nullopt;  // libraries send in pairs
        return microseconds(ring_latency(index)) + call_.bytes / ring_rate(protocol);
      case Algorithm::tree:
        if (call_.kind != CollectiveKind::all_reduce) return std::nullopt;
        return microseconds(tree_latency(index)) + call_.bytes / tree_rate(protocol);
      case Algorithm::nvls:
        if (!runs_in_switch(protocol)) return std::nullopt;
        return microseconds(table_.nvls) + call_.bytes / nvls_rate();
      case Algorithm::nvls_tree:
        if (!runs_in_switches(protocol)) return std::nullopt;
        return microseconds(table_.nvls + 2.0 * depth() * table_.nvls_tree_network) +
               call_.bytes / nvls_tree_rate();
      case Algorithm::direct:
        return one_shot_time(protocol);
      default:
        return std::nullopt;
    }
  }

  bool passes(Protocol protocol) const { return nodes_ == 1 || passes_between_nodes(cluster_, protocol); }

  /// A plug-in's own tuner: a tree with flags up to a size, between nodes whose switches reduce.
  bool is_set_by_plugin() const {
    return reduces_to_all() && nodes_ > 1 && cluster_.fabric && switch_reduces_ && library_.ll128 &&
           call_.bytes <= cluster_.fabric->transport.tree_until;
  }

  /// The protocol of what goes in pairs.
  Protocol protocol_of_pairs() const {
    const bool whole = call_.kind == CollectiveKind::send_receive || call_.kind == CollectiveKind::broadcast ||
                       call_.kind == CollectiveKind::reduce;
    const Bytes of_pair = call_.kind == CollectiveKind::all_to_all_v ? std::ranges::max(call_.sends)
                                                                     : call_.bytes / (whole ? 1.0 : ranks_);
    const bool flags = of_pair <= kMostOfPairInLl && library_.ll && passes(Protocol::ll);
    return flags ? Protocol::ll : Protocol::simple;
  }

  std::optional<BytesPerSecond> measured_tree_rate(Algorithm algorithm, Protocol protocol) const {
    const bool known = library_.rules == TunerRules::nccl && library_.tuner_bandwidth.value > 0.0 &&
                       reduces_to_all() && offers(library_, protocol);
    if (!known) return std::nullopt;
    if (algorithm == Algorithm::tree) return tree_rate(protocol);
    const bool capped = algorithm == Algorithm::nvls_tree && caps_.nvls_tree[index_of_nodes()] > 0.0;
    return capped ? std::optional(nvls_tree_rate()) : std::nullopt;
  }

 private:
  static int nics_of(const ClusterSpec& cluster) { return cluster.fabric ? cluster.fabric->nics_per_node : 1; }
  bool reduces_to_all() const { return call_.kind == CollectiveKind::all_reduce; }
  int steps() const {
    if (reduces_to_all()) return 2 * (ranks_ - 1);
    const bool turns = call_.kind == CollectiveKind::all_gather || call_.kind == CollectiveKind::reduce_scatter;
    return turns ? ranks_ - 1 : ranks_;
  }
  /// Algorithm bandwidth of a ring by its bus bandwidth.
  double ring_ratio() const { return static_cast<double>(ranks_) / steps(); }
  BytesPerSecond bandwidth() const {
    return nodes_ == 1 ? library_.tuner_bandwidth : std::min(library_.tuner_bandwidth, fabric_);
  }
  /// Between nodes the host decides (NCCL 2.30.7, llMaxBws of hosts by Intel).
  BytesPerSecond most_in_ll() const {
    if (nodes_ > 2) return BytesPerSecond{20.4e9};
    return BytesPerSecond{nodes_ == 2 ? 39e9 : std::numeric_limits<double>::infinity()};
  }

  BytesPerSecond ring_rate(Protocol protocol) const {
    BytesPerSecond bus = bandwidth();
    const double channels = library_.channels;
    if (protocol == Protocol::ll) bus = std::min(bus * library_.ll->link_share, most_in_ll());
    if (protocol == Protocol::ll128) bus = std::min(bus * 0.92, library_.ll128->channel_rate * channels);
    return bus * ring_ratio();
  }
  double ring_latency(std::size_t protocol) const {
    const double within = (over_pcie_ ? table_.ring_pcie : table_.ring_hop)[protocol];
    const int between = nodes_ == 1 ? 0 : reduces_to_all() ? 2 * (nodes_ - 1) : nodes_ - 1;
    const bool exposed = ranks_ == nodes_;  // with one GPU a node nothing hides a network hop
    const double network = (exposed ? table_.tree_network : table_.ring_network)[protocol];
    const double latency = table_.ring_base[protocol] + (steps() - between) * within + between * network;
    const bool plateau = nodes_ > 1 && protocol == 2 && reduces_to_all() &&
                         call_.bytes.value / (library_.channels * ranks_) >= 64.0;
    return plateau ? library_.ring_plateau * latency : latency;
  }

  BytesPerSecond tree_rate(Protocol protocol) const {
    const double cap = caps_.tree[index_of_nodes()] * 1e9 * searched_;
    BytesPerSecond bus = std::min(bandwidth() * 0.92, BytesPerSecond{cap});
    if (protocol == Protocol::ll) bus = std::min(bus / 3.8, most_in_ll());
    if (protocol == Protocol::ll128) {
      bus = std::min(bus * (nodes_ == 1 ? 7.0 / 9.0 : 120.0 / 128.0),
                     BytesPerSecond{caps_.tree_ll128[index_of_nodes()] * 1e9 * searched_});
    }
    if (protocol == Protocol::simple && library_.rules == TunerRules::rccl)
      bus = bus * (nodes_ > 2 ? 0.59 : 0.11);
    const int log = call_.bytes.value >= 64.0 ? std::ilogb(call_.bytes.value / 64.0) : -1;
    const auto& correction = kTreeCorrection[static_cast<std::size_t>(protocol)];
    if (log >= 0 && log < 23) bus = bus * correction[static_cast<std::size_t>(log)];
    return bus * 0.5;
  }
  double tree_latency(std::size_t protocol) const {
    const double within = (over_pcie_ ? table_.tree_pcie : table_.tree_hop)[protocol];
    return table_.tree_base[protocol] +
           2.0 * ((ranks_ / nodes_ - 1) * within + depth() * table_.tree_network[protocol]);
  }

  double depth() const { return std::floor(std::log2(nodes_)); }
  std::size_t index_of_nodes() const { return static_cast<std::size_t>(std::min(nodes_, 3) - 1); }

  // Eight channels, one for each head; of two nodes each carries its result one way only.
  BytesPerSecond nvls_tree_rate() const {
    const double within = 2.0 * library_.nvls_tuner_bandwidth.value;
    const double between = fabric_.value * (nodes_ == 2 ? 2.0 : 1.0);
    const double cap = 8e9 * caps_.nvls_tree[index_of_nodes()];
    return BytesPerSecond{std::min({within, between, cap})} * ring_ratio();
  }
  bool runs_in_switches(Protocol protocol) const {
    return switch_reduces_ && nodes_ > 1 && ranks_ > nodes_ && library_.nvls_channels > 0 &&
           protocol == Protocol::simple && caps_.nvls_tree[index_of_nodes()] > 0.0 && call_.dtype != DType::fp8;
  }

  // An fp8 sum is left to channels: the switch adds 16 and 32 bits.
  bool runs_in_switch(Protocol protocol) const {
    const bool sums_bytes = reduces(call_.kind) && call_.dtype == DType::fp8;
    return switch_reduces_ && nodes_ == 1 && ranks_ > 2 && library_.nvls_channels > 0 &&
           protocol == Protocol::simple && !sums_bytes;
  }
  BytesPerSecond nvls_rate() const {
    if (reduces_to_all()) return library_.nvls_tuner_bandwidth * 2.0 * ring_ratio();
    return library_.nvls_tuner_bandwidth * ((ranks_ - 1.0) / ranks_);
  }

  // Such kernels run where they are faster than rings in protocol simple.
  std::optional<Seconds> one_shot_time(Protocol protocol) const {
    if (!library_.one_shot_latency || !reduces_to_all() || protocol != Protocol::ll || nodes_ > 1)
      return std::nullopt;
    const BytesPerSecond bus = library_.tuner_bandwidth * 0.5;
    return *library_.one_shot_latency + library_.ll->hop_latency * 2.0 + call_.bytes / (bus * ring_ratio());
  }

  const CollectiveCall& call_;
  const CollectiveLibrarySpec& library_;
  const ClusterSpec& cluster_;
  const TunerTable& table_;
  const GenerationCaps& caps_;
  bool over_pcie_;
  int ranks_, nodes_;
  BytesPerSecond fabric_;  ///< of all NICs of a node
  int searched_;  ///< channels that the topology search finds, before they are doubled
  bool switch_reduces_;
};

}  // namespace

std::optional<Seconds> expected_time(const CollectiveCall& call, Algorithm algorithm, Protocol protocol,
                                     const ClusterSpec& cluster) {
  return Tuner(call, cluster).time(algorithm, protocol);
}

std::optional<BytesPerSecond> measured_tree_rate(const CollectiveCall& call, Algorithm algorithm,
                                                 Protocol protocol, const ClusterSpec& cluster) {
  return Tuner(call, cluster).measured_tree_rate(algorithm, protocol);
}

ChannelMethod choose_method(const CollectiveCall& call, const ClusterSpec& cluster, const MethodWish& wish) {
  if (wish.protocol && !offers(cluster.library, *wish.protocol)) {
    throw InfeasibleError(
        fmt::format("'{}' has no protocol {}", cluster.library.name, name_of(*wish.protocol)));
  }
  const Tuner tuner(call, cluster);
  const bool by_formula = cluster.library.rules == TunerRules::nccl || call.kind == CollectiveKind::all_reduce;
  const Algorithm usual = default_algorithm(call, Backend::cu, cluster);
  ChannelMethod best{wish.algorithm.value_or(usual), Protocol::simple, wish.most_channels};
  if (!wish.algorithm && !wish.protocol && tuner.is_set_by_plugin())
    return {Algorithm::tree, Protocol::ll128, wish.most_channels};
  std::optional<Seconds> least;
  for (const Algorithm algorithm : kAlgorithms) {
    for (const Protocol protocol : kProtocols) {
      const bool allowed = wish.algorithm.value_or(by_formula ? algorithm : usual) == algorithm &&
                           wish.protocol.value_or(protocol) == protocol;
      if (!allowed) continue;
      const std::optional<Seconds> time = tuner.time(algorithm, protocol);
      if (!time || (least && *time >= *least)) continue;
      least = time;
      best = {algorithm, protocol, wish.most_channels};
    }
  }
  if (least) return best;
  best.protocol = wish.protocol.value_or(best.algorithm == Algorithm::direct ? tuner.protocol_of_pairs()
                                                                             : Protocol::simple);
  return best;
}

}  // namespace c3
