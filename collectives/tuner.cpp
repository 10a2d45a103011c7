#include "collectives/tuner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

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
/// Tuning model 5 (MI300X); no model of another GPU has been published with its sources.
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
        table_(library_.rules == TunerRules::rccl ? kRccl : kNccl),
        caps_(caps_of(cluster)),
        over_pcie_(cluster.node.topology == NodeTopology::wired && !library_.ll128 &&
                   library_.rules == TunerRules::nccl),
        ranks_(call.ranks.empty() ? cluster.ranks() : static_cast<int>(call.ranks.size())),
        nodes_(nodes_of(call, cluster)),
        fabric_(cluster.fabric
                    ? cluster.fabric->nic.both_ways * static_cast<double>(cluster.fabric->nics_per_node)
                    : BytesPerSecond{}),
        transport_(cluster.fabric ? cluster.fabric->transport : TransportSpec{}),
        searched_(nodes_ == 1 ? library_.channels : std::min(cluster.node.gpus, nics_of(cluster))),
        switch_reduces_(cluster.node.switch_reduces) {}

  std::optional<Seconds> time(Algorithm algorithm, Protocol protocol) const {
    const bool known = library_.tuner_bandwidth.value > 0.0;
    if (!known || !supports(algorithm, call_.kind) || !offers(library_, protocol)) return std::nullopt;
    if (nodes_ > 1 && !passes_flags(protocol)) return std::nullopt;
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

  std::optional<BytesPerSecond> measured_tree_rate(Algorithm algorithm, Protocol protocol) const {
    const bool known = library_.rules == TunerRules::nccl && library_.tuner_bandwidth.value > 0.0 &&
                       reduces_to_all() && offers(library_, protocol);
    if (!known) return std::nullopt;
    if (algorithm == Algorithm::tree) return tree_rate(protocol);
    return algorithm == Algorithm::nvls_tree ? std::optional(nvls_tree_rate()) : std::nullopt;
  }

 private:
  static int nics_of(const ClusterSpec& cluster) { return cluster.fabric ? cluster.fabric->nics_per_node : 1; }
  static int nodes_of(const CollectiveCall& call, const ClusterSpec& cluster) {
    if (call.ranks.empty()) return cluster.nodes;
    std::vector<int> nodes;
    for (const int rank : call.ranks)
      nodes.push_back(rank / cluster.node.gpus);
    std::ranges::sort(nodes);
    return static_cast<int>(std::ranges::unique(nodes).begin() - nodes.begin());
  }

  bool passes_flags(Protocol protocol) const {
    if (protocol == Protocol::simple) return true;
    return transport_.flags == FlagSupport::all ||
           (transport_.flags == FlagSupport::words && protocol == Protocol::ll);
  }
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
    return plateau ? 1.4 * latency : latency;
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
    const auto bytes = static_cast<std::uint64_t>(call_.bytes.value);
    const int log = static_cast<int>(std::bit_width(bytes >> 6U)) - 1;
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
  const TunerTable& table_;
  const GenerationCaps& caps_;
  bool over_pcie_;
  int ranks_, nodes_;
  BytesPerSecond fabric_;  ///< of all NICs of a node
  TransportSpec transport_;
  int searched_;  ///< channels that the topology search finds, before they are doubled
  bool switch_reduces_;
};

/// A plug-in's own tuner: a tree with flags up to a size, between nodes whose switches reduce.
std::optional<ChannelMethod> set_by_plugin(const CollectiveCall& call, const ClusterSpec& cluster,
                                           const MethodWish& wish) {
  const bool asks = wish.algorithm || wish.protocol || call.kind != CollectiveKind::all_reduce;
  if (asks || cluster.nodes == 1 || !cluster.fabric || !offers(cluster.library, Protocol::ll128))
    return std::nullopt;
  if (!cluster.node.switch_reduces || call.bytes > cluster.fabric->transport.tree_until) return std::nullopt;
  return ChannelMethod{Algorithm::tree, Protocol::ll128, wish.most_channels};
}

/// The protocol of what goes in pairs.
Protocol protocol_of_pairs(const CollectiveCall& call, const ClusterSpec& cluster) {
  const int members = call.ranks.empty() ? cluster.ranks() : static_cast<int>(call.ranks.size());
  const bool shares = call.kind == CollectiveKind::all_to_all || call.kind == CollectiveKind::all_gather ||
                      call.kind == CollectiveKind::reduce_scatter || call.kind == CollectiveKind::all_reduce;
  const Bytes of_pair = call.kind == CollectiveKind::all_to_all_v && !call.sends.empty()
                            ? std::ranges::max(call.sends)
                            : call.bytes / (shares ? members : 1.0);
  return of_pair <= kMostOfPairInLl && offers(cluster.library, Protocol::ll) ? Protocol::ll : Protocol::simple;
}

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
  if (const auto set = set_by_plugin(call, cluster, wish)) return *set;
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
  best.protocol = wish.protocol.value_or(best.algorithm == Algorithm::direct ? protocol_of_pairs(call, cluster)
                                                                             : Protocol::simple);
  return best;
}

}  // namespace c3
