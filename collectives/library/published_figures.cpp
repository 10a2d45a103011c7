#include "collectives/library/published_figures.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "collectives/group_layout.hpp"

namespace c3::inline collectives {
namespace {

int nics_of(const ClusterSpec& cluster) { return cluster.fabric ? cluster.fabric->nics_per_node : 1; }

BytesPerSecond of_all_nics(const ClusterSpec& cluster) {
  if (!cluster.fabric) return {};
  return cluster.fabric->nic.both_ways * static_cast<double>(cluster.fabric->nics_per_node);
}

}  // namespace

PublishedFigures::PublishedFigures(const CollectiveCall& its_call, const ClusterSpec& its_cluster)
    : call(its_call),
      cluster(its_cluster),
      library(cluster.library),
      table(tuner_table(library.rules, cluster.gpu.family.tuned_as)),
      caps(channel_caps(library.rules, cluster.gpu.family.tuned_as)),
      over_pcie(cluster.node.topology == NodeTopology::wired && !library.ll128 &&
                library.rules == TunerRules::nccl),
      ranks(member_count(call, cluster.ranks())),
      nodes(layout_of(members_of(call, cluster.ranks()), cluster.node.gpus).node_count()),
      fabric(of_all_nics(cluster)),
      found(rings_over_pcie(cluster, members_of(call, cluster.ranks()))),
      searched(found ? found->rings
                     : (nodes == 1 ? library.channels : std::min(cluster.node.gpus, nics_of(cluster)))) {}

int PublishedFigures::steps() const {
  if (reduces_to_all()) return 2 * (ranks - 1);
  const bool turns = call.kind == CollectiveKind::all_gather || call.kind == CollectiveKind::reduce_scatter;
  return turns ? ranks - 1 : ranks;
}

BytesPerSecond PublishedFigures::bandwidth() const {
  if (found) return nodes == 1 ? found->bandwidth() : std::min(found->bandwidth(), fabric);
  return nodes == 1 ? library.tuner_bandwidth : std::min(library.tuner_bandwidth, fabric);
}

BytesPerSecond PublishedFigures::most_in_ll() const {
  if (nodes > 2) return kMostInLl.more_nodes;
  return nodes == 2 ? kMostInLl.two_nodes : BytesPerSecond{std::numeric_limits<double>::infinity()};
}

double PublishedFigures::share(const std::array<ByProtocol, 2>& by_nodes, const SharesBySize* by_size,
                               Protocol protocol) const {
  const auto index = static_cast<std::size_t>(protocol);
  const double of_nodes = by_nodes[nodes > 2 ? 1 : 0][index];
  return by_size ? of_nodes * (*by_size)[index][static_cast<std::size_t>(std::clamp(log_size(), 0, 26))]
                 : of_nodes;
}

int PublishedFigures::log_size() const {
  return call.bytes.value >= 64.0 ? std::ilogb(call.bytes.value / 64.0) : -1;
}

double PublishedFigures::depth() const { return std::floor(std::log2(nodes)); }

std::size_t PublishedFigures::index_of_nodes() const {
  return static_cast<std::size_t>(std::min(nodes, 3) - 1);
}

}  // namespace c3::collectives
