#include "collectives/tuner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "collectives/group_layout.hpp"
#include "collectives/transfer_graph.hpp"
#include "collectives/tuner_tables.hpp"
#include "engine/errors.hpp"

namespace c3 {
namespace {

constexpr Bytes kMostOfPairInLl{16.0 * 1024.0};
constexpr double kPostOfStep =
    1.0;  ///< a host's, for a step of a ring over nodes; protocol simple posts thrice [us]

Seconds microseconds(double count) { return Seconds{count * 1e-6}; }

/// One call on one cluster, as a tuner sees it.
class Tuner {
 public:
  Tuner(const CollectiveCall& call, const ClusterSpec& cluster)
      : call_(call),
        library_(cluster.library),
        cluster_(cluster),
        table_(tuner_table(library_.rules, cluster.gpu.family)),
        caps_(channel_caps(library_.rules, cluster.gpu.family)),
        over_pcie_(cluster.node.topology == NodeTopology::wired && !library_.ll128 &&
                   library_.rules == TunerRules::nccl),
        ranks_(member_count(call, cluster.ranks())),
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
        if (!runs_in_tree(protocol)) return std::nullopt;
        return microseconds(tree_latency(index)) +
               call_.bytes / tree_rate(protocol, tree_correction(protocol, log_size()));
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
    const Bytes of_pair =
        call_.kind == CollectiveKind::all_to_all_v ? largest_send() : call_.bytes / (whole ? 1.0 : ranks_);
    const bool flags = of_pair <= kMostOfPairInLl && library_.ll && passes(Protocol::ll);
    return flags ? Protocol::ll : Protocol::simple;
  }

  std::optional<BytesPerSecond> measured_tree_rate(Algorithm algorithm, Protocol protocol) const {
    const bool known = library_.rules == TunerRules::nccl && library_.tuner_bandwidth.value > 0.0 &&
                       reduces_to_all() && offers(library_, protocol);
    if (!known) return std::nullopt;
    if (algorithm == Algorithm::tree) return tree_rate(protocol, correction_between(protocol));
    const bool capped = algorithm == Algorithm::nvls_tree && caps_.nvls_tree[index_of_nodes()] > 0.0;
    return capped ? std::optional(nvls_tree_rate()) : std::nullopt;
  }

 private:
  static int nics_of(const ClusterSpec& cluster) { return cluster.fabric ? cluster.fabric->nics_per_node : 1; }
  /// What a rank keeps is sent to nobody.
  Bytes largest_send() const {
    Bytes largest;
    for (std::size_t i = 0; i < call_.sends.size(); ++i) {
      const bool is_own = i % (static_cast<std::size_t>(ranks_) + 1) == 0;
      if (!is_own) largest = std::max(largest, call_.sends[i]);
    }
    return largest;
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

  /// Of the bandwidth, in RCCL's own units of size.
  double share(const std::array<ByProtocol, 2>& by_nodes, const SharesBySize* by_size,
               Protocol protocol) const {
    const auto index = static_cast<std::size_t>(protocol);
    const double of_nodes = by_nodes[nodes_ > 2 ? 1 : 0][index];
    return by_size ? of_nodes * (*by_size)[index][static_cast<std::size_t>(std::clamp(log_size(), 0, 26))]
                   : of_nodes;
  }
  /// Powers of two above 64 B; -1: below.
  int log_size() const { return call_.bytes.value >= 64.0 ? std::ilogb(call_.bytes.value / 64.0) : -1; }

  BytesPerSecond ring_rate(Protocol protocol) const {
    BytesPerSecond bus = bandwidth();
    if (const TunerShares* shares = table_.shares) {
      const SharesBySize* by_size = nodes_ > 1 ? &shares->ring_by_size : nullptr;
      return bus * (share(shares->ring, by_size, protocol) * ring_ratio());
    }
    const double channels = library_.channels;
    if (protocol == Protocol::ll) bus = std::min(bus * library_.ll->link_share, most_in_ll());
    if (protocol == Protocol::ll128) bus = std::min(bus * 0.92, library_.ll128->channel_rate * channels);
    return bus * ring_ratio();
  }
  double ring_latency(std::size_t protocol) const {
    const double hop = (over_pcie_ ? table_.ring_pcie : table_.ring_hop)[protocol];
    const double posts = protocol == 2 ? 3.0 * kPostOfStep : kPostOfStep;
    const double within = nodes_ == 1 ? hop : std::max(hop, posts);
    const int between = nodes_ == 1 ? 0 : reduces_to_all() ? 2 * (nodes_ - 1) : nodes_ - 1;
    const bool exposed = ranks_ == nodes_;  // with one GPU a node nothing hides a network hop
    const double network = (exposed ? table_.tree_network : table_.ring_network)[protocol];
    const double latency = table_.ring_base[protocol] + (steps() - between) * within + between * network;
    const bool plateau = nodes_ > 1 && protocol == 2 && reduces_to_all() &&
                         call_.bytes.value / (library_.channels * ranks_) >= 64.0;
    return plateau ? library_.ring_plateau * latency : latency;
  }

  bool runs_in_tree(Protocol protocol) const {
    const bool left_out = library_.rules == TunerRules::rccl && nodes_ == 1 && protocol == Protocol::simple;
    return reduces_to_all() && !left_out;
  }
  /// What was measured of trees, at the sizes in NCCL's table and between them; its tuner takes that of the
  /// size below.
  double correction_between(Protocol protocol) const {
    const int below = log_size();
    if (below < 0) return 1.0;
    const double part = std::log2(call_.bytes.value / 64.0) - below;
    return std::lerp(tree_correction(protocol, below), tree_correction(protocol, below + 1), part);
  }
  BytesPerSecond tree_rate(Protocol protocol, double correction) const {
    if (const TunerShares* shares = table_.shares)
      return bandwidth() * (0.5 * share(shares->tree, &shares->tree_by_size, protocol));
    const double cap = caps_.tree[index_of_nodes()] * 1e9 * searched_;
    BytesPerSecond bus = std::min(bandwidth() * 0.92, BytesPerSecond{cap});
    if (protocol == Protocol::ll) bus = std::min(bus / 3.8, most_in_ll());
    if (protocol == Protocol::ll128) {
      bus = std::min(bus * (nodes_ == 1 ? 7.0 / 9.0 : 120.0 / 128.0),
                     BytesPerSecond{caps_.tree_ll128[index_of_nodes()] * 1e9 * searched_});
    }
    return bus * (0.5 * correction);
  }
  double tree_latency(std::size_t protocol) const {
    const double within = (over_pcie_ ? table_.tree_pcie : table_.tree_hop)[protocol];
    const int in_chain = ranks_ / nodes_ - 1;
    return table_.tree_base[protocol] + 2.0 * (in_chain * within + depth() * table_.tree_network[protocol]);
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

  // Broadcast and reduce go along rings only (NCCL 2.30.7). An fp8 sum is left to channels: the switch adds 16
  // and 32 bits.
  bool runs_in_switch(Protocol protocol) const {
    const bool sums_bytes = reduces(call_.kind) && call_.dtype == DType::fp8;
    return switch_reduces_ && nodes_ == 1 && ranks_ > 2 && library_.nvls_channels > 0 &&
           protocol == Protocol::simple && !sums_bytes && !is_rooted(call_.kind);
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
  const ChannelCaps& caps_;
  bool over_pcie_;
  int ranks_, nodes_;
  BytesPerSecond fabric_;  ///< of all NICs of a node
  int searched_;           ///< channels that the topology search finds, before they are doubled
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
  ChannelMethod best{wish.algorithm.value_or(usual), Protocol::simple, wish.channels};
  if (!wish.algorithm && !wish.protocol && tuner.is_set_by_plugin())
    return {Algorithm::tree, Protocol::ll128, wish.channels};
  std::optional<Seconds> least;
  for (const Algorithm algorithm : kAlgorithms) {
    for (const Protocol protocol : kProtocols) {
      const bool allowed = wish.algorithm.value_or(by_formula ? algorithm : usual) == algorithm &&
                           wish.protocol.value_or(protocol) == protocol;
      if (!allowed) continue;
      const std::optional<Seconds> time = tuner.time(algorithm, protocol);
      if (!time || (least && *time >= *least)) continue;
      least = time;
      best = {algorithm, protocol, wish.channels};
    }
  }
  if (least) return best;
  best.protocol = wish.protocol.value_or(best.algorithm == Algorithm::direct ? tuner.protocol_of_pairs()
                                                                             : Protocol::simple);
  return best;
}

}  // namespace c3
