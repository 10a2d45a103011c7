#include "collectives/library/tuner.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "collectives/algorithms/entry.hpp"
#include "collectives/backends/entry.hpp"
#include "collectives/library/published_figures.hpp"
#include "engine/errors.hpp"

namespace c3::inline collectives {
namespace {

constexpr Bytes kMostOfPairInLl{16.0 * 1024.0};

std::optional<Seconds> time_of(const PublishedFigures& figures, Algorithm algorithm, Protocol protocol) {
  const bool has_formula = figures.library.tuner_bandwidth.value > 0.0 && algorithm->expected_time != nullptr;
  const bool can_run =
      supports(algorithm, figures.call.kind) && offers(figures.library, protocol) && figures.passes(protocol);
  return has_formula && can_run ? algorithm->expected_time(figures, protocol) : std::nullopt;
}

/// A plug-in's own tuner: a tree with flags up to a size, between nodes whose switches reduce.
bool is_set_by_plugin(const PublishedFigures& figures) {
  const ClusterSpec& cluster = figures.cluster;
  return figures.reduces_to_all() && figures.nodes > 1 && cluster.fabric && cluster.node.switch_reduces &&
         figures.library.ll128 && figures.call.bytes <= cluster.fabric->transport.tree_until;
}

/// What a rank keeps is sent to nobody.
Bytes largest_send(const PublishedFigures& figures) {
  Bytes largest;
  const std::vector<Bytes>& sends = figures.call.sends;
  for (std::size_t i = 0; i < sends.size(); ++i) {
    const bool is_own = i % (static_cast<std::size_t>(figures.ranks) + 1) == 0;
    if (!is_own) largest = std::max(largest, sends[i]);
  }
  return largest;
}

/// The protocol of what goes in pairs.
Protocol protocol_of_pairs(const PublishedFigures& figures) {
  const CollectiveCall& call = figures.call;
  const bool whole = call.kind == CollectiveKind::send_receive || call.kind == CollectiveKind::broadcast ||
                     call.kind == CollectiveKind::reduce;
  const Bytes of_pair = call.kind == CollectiveKind::all_to_all_v ? largest_send(figures)
                                                                  : call.bytes / (whole ? 1.0 : figures.ranks);
  const bool flags = of_pair <= kMostOfPairInLl && figures.library.ll && figures.passes(Protocol::ll);
  return flags ? Protocol::ll : Protocol::simple;
}

}  // namespace

std::optional<Seconds> expected_time(const CollectiveCall& call, Algorithm algorithm, Protocol protocol,
                                     const ClusterSpec& cluster) {
  return time_of(PublishedFigures(call, cluster), algorithm, protocol);
}

CollectiveMethod choose_method(const CollectiveCall& call, const ClusterSpec& cluster, const MethodWish& wish) {
  if (wish.protocol && !offers(cluster.library, *wish.protocol)) {
    throw InfeasibleError(
        fmt::format("'{}' has no protocol {}", cluster.library.name, name_of(*wish.protocol)));
  }
  const PublishedFigures figures(call, cluster);
  const bool by_formula = cluster.library.rules == TunerRules::nccl || call.kind == CollectiveKind::all_reduce;
  const Algorithm usual = default_algorithm(call, Backend::cu, cluster);
  CollectiveMethod best{wish.algorithm.value_or(usual), Protocol::simple, wish.channels};
  if (!wish.algorithm && !wish.protocol && is_set_by_plugin(figures))
    return {Algorithm::tree, Protocol::ll128, wish.channels};
  std::optional<Seconds> least;
  for (const Algorithm algorithm : kAlgorithms) {
    for (const Protocol protocol : kProtocols) {
      const bool allowed = wish.algorithm.value_or(by_formula ? algorithm : usual) == algorithm &&
                           wish.protocol.value_or(protocol) == protocol;
      if (!allowed) continue;
      const std::optional<Seconds> time = time_of(figures, algorithm, protocol);
      if (!time || (least && *time >= *least)) continue;
      least = time;
      best = {algorithm, protocol, wish.channels};
    }
  }
  if (least) return best;
  best.protocol = wish.protocol.value_or(best.algorithm == Algorithm::direct ? protocol_of_pairs(figures)
                                                                             : Protocol::simple);
  return best;
}

}  // namespace c3::collectives
