#include "collectives/library/published_figures.hpp"

#include <algorithm>
#include <cmath>

#include "collectives/group_layout.hpp"
#include "collectives/library/ring_search.hpp"

namespace c3 { inline namespace collectives {
namespace {

constexpr double kGiga = 1e9;

BytesPerSecond of_all_nics(const ClusterSpec& cluster) {
  if (!cluster.fabric) return {};
  return cluster.fabric->nic.both_ways * static_cast<double>(cluster.fabric->nics_per_node);
}

/// The NICs of \p gpus of a node. Several of one GPU are one: a libfabric plug-in shows them so (aws-ofi-nccl,
/// multi-rail), and NCCL joins ports of one card (NCCL_NET_MERGE_LEVEL, from 2.24 on). Wrong when: they are
/// cards of their own.
void add_nics(SearchedNode& searched, const ClusterSpec& cluster, int gpus) {
  const FabricSpec& fabric = *cluster.fabric;
  const double of_gpu = static_cast<double>(fabric.nics_per_node) / cluster.node.gpus;
  const bool merges = fabric.transport.flag_latency.value > 0.0 || searched.version >= LibraryVersion{2, 24, 0};
  const bool as_one = of_gpu > 1.0 && merges;
  const double pcie = cluster.node.pcie.raw.value > 0.0 ? cluster.node.pcie.raw.value * kSearchedPcie : 1e15;
  const double nic = fabric.nic.raw.value * (as_one ? of_gpu : 1.0);
  searched.nics = std::max(1, as_one ? gpus : static_cast<int>(std::lround(of_gpu * gpus)));
  searched.nic = std::min(nic, pcie) / kGiga;
  searched.nics_reduce = fabric.switch_reduces;
}

SearchedGraphs graphs_of(const ClusterSpec& cluster, const std::vector<int>& members, int nodes) {
  if (const std::optional<FoundRings> found = rings_over_pcie(cluster, members)) {
    const double speed = found->speed.value / kGiga;
    const SearchedGraph ring{found->rings, speed, speed};
    return {.ring = ring, .tree = ring, .nvls = {}, .collnet = {}, .channels = found->channels};
  }
  const CollectiveLibrarySpec& library = cluster.library;
  const int gpus = std::max(1, static_cast<int>(members.size()) / nodes);
  SearchedNode searched{.gpu = cluster.gpu.family.tuned_as,
                        .version = library.version,
                        .gpus = gpus,
                        .port = library.tuner_bandwidth.value / kGiga,
                        .has_switch = cluster.node.switch_reduces && library.nvls_channels > 0};
  if (nodes > 1) add_nics(searched, cluster, gpus);
  if (!goes_over_pcie(cluster)) return search_topology(searched);
  const double between = of_all_nics(cluster).value / kGiga;
  const double inter = nodes == 1 ? searched.port : std::min(searched.port, between);
  const int channels =
      nodes == 1 ? library.channels : std::min(cluster.node.gpus, cluster.fabric->nics_per_node);
  const SearchedGraph all{channels, inter / channels, inter / channels};
  return {.ring = all, .tree = all, .nvls = {}, .collnet = {}, .channels = library.channels};
}

}  // namespace

PublishedFigures::PublishedFigures(const CollectiveCall& its_call, const ClusterSpec& its_cluster)
    : call(its_call),
      cluster(its_cluster),
      library(cluster.library),
      table(tuner_table(library, cluster.gpu.family.tuned_as)),
      caps(channel_caps(library, cluster.gpu.family.tuned_as)),
      measured(measured_caps(library, cluster.gpu.family.tuned_as)),
      over_pcie(goes_over_pcie(cluster)),
      ranks(member_count(call, cluster.ranks())),
      nodes(layout_of(members_of(call, cluster.ranks()), cluster.node.gpus).node_count()),
      fabric(of_all_nics(cluster)) {
  if (library.rules == TunerRules::nccl && library.tuner_bandwidth.value > 0.0)
    graphs = graphs_of(cluster, members_of(call, cluster.ranks()), nodes);
}

int PublishedFigures::steps() const {
  if (reduces_to_all()) return 2 * (ranks - 1);
  const bool turns = call.kind == CollectiveKind::all_gather || call.kind == CollectiveKind::reduce_scatter;
  return turns ? ranks - 1 : ranks;
}

BytesPerSecond PublishedFigures::bandwidth() const {
  return nodes == 1 ? library.tuner_bandwidth : std::min(library.tuner_bandwidth, fabric);
}

BytesPerSecond PublishedFigures::bandwidth(const SearchedGraph& graph) const {
  return gigabytes(graph.channels * (nodes <= 2 ? graph.intra : graph.inter));
}

BytesPerSecond PublishedFigures::most_in_ll() const {
  if (nodes == 1) return gigabytes(caps.ll);
  const MostInLl& most = library.host_processor == HostProcessor::amd ? kMostInLlOfAmdHosts : kMostInLl;
  return nodes == 2 ? most.two_nodes : most.more_nodes;
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

}}  // namespace c3::collectives
