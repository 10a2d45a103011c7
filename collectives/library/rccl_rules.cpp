#include "collectives/library/rccl_rules.hpp"

#include <algorithm>
#include <cmath>

#include "collectives/library/rccl_tables.hpp"

namespace c3 { inline namespace collectives {
namespace {

constexpr double kMiB = 1024.0 * 1024.0;

TunedGpu gpu_of(const PublishedFigures& figures) { return figures.cluster.gpu.family.tuned_as; }
bool is_mi300x(const PublishedFigures& figures) { return gpu_of(figures) == TunedGpu::mi300x; }
bool is_mi355x(const PublishedFigures& figures) { return gpu_of(figures) == TunedGpu::mi355x; }

/// Bytes of one rank, counted like those of ByteRange.
double bytes_of_rank(const PublishedFigures& figures) {
  const double bytes = figures.call.bytes.value;
  return figures.reduces_to_all() ? bytes : std::floor(bytes / figures.ranks);
}

/// Protocol ll for small calls of one node: the most bytes of a rank.
double most_in_ll_of_node(const PublishedFigures& figures) {
  const CollectiveKind kind = figures.call.kind;
  if (kind == CollectiveKind::all_gather && is_mi355x(figures) && figures.since(27))
    return figures.since(28) ? 88'448.0 : std::floor(524'288.0 / figures.ranks);
  if (kind != CollectiveKind::reduce_scatter || !figures.since(28)) return 0.0;
  if (is_mi355x(figures)) return 1'048'576.0;
  return is_mi300x(figures) ? 352'128.0 : 0.0;
}

/// Small all-reduces of a node that go through trees, whatever the tuner expects.
bool takes_tree(const PublishedFigures& figures) {
  constexpr ByteRange kInTrees{63.0, 262'144.0};
  return figures.reduces_to_all() && figures.nodes == 1 && is_mi355x(figures) && figures.since(28) &&
         kInTrees.holds(figures.call.bytes.value);
}

Protocol protocol_by_size(const PublishedFigures& figures, Protocol by_formula) {
  if (figures.nodes == 1)
    return bytes_of_rank(figures) <= most_in_ll_of_node(figures) ? Protocol::ll : by_formula;
  const auto ranges = flag_ranges(figures.library.version, gpu_of(figures), figures.call.kind, figures.nodes);
  if (!ranges) return by_formula;
  const double bytes = bytes_of_rank(figures);
  const auto has = [&](Protocol protocol) {
    return offers(figures.library, protocol) && figures.passes(protocol) && rccl_offers(figures, protocol);
  };
  if (has(Protocol::ll128) && ranges->ll128.holds(bytes)) return Protocol::ll128;
  return has(Protocol::ll) && ranges->ll.holds(bytes) ? Protocol::ll : Protocol::simple;
}

}  // namespace

bool rccl_offers(const PublishedFigures& figures, Protocol protocol) {
  return protocol != Protocol::ll128 || (figures.nodes > 1 && figures.since(26));
}

CollectiveMethod rccl_method(const PublishedFigures& figures, const CollectiveMethod& by_formula,
                             const MethodWish& wish) {
  CollectiveMethod method = by_formula;
  const MethodPermits& permits = figures.library.permits;
  const bool protocol_is_free = !wish.protocol && permits.protocols == Permits();
  const bool is_one_shot = figures.reduces_to_all() && by_formula.algorithm == Algorithm::direct;
  if (!protocol_is_free || is_one_shot) return method;
  method.protocol = protocol_by_size(figures, by_formula.protocol);
  if (takes_tree(figures) && !wish.algorithm && permits.algorithms == Permits())
    return {Algorithm::tree, Protocol::ll, by_formula.channels};
  return method;
}

bool gathers_in_pairs(const PublishedFigures& figures) {
  const bool has_rule = is_mi300x(figures) || is_mi355x(figures);
  if (figures.call.kind != CollectiveKind::all_gather || !has_rule || !figures.since(26)) return false;
  const double bytes = figures.call.bytes.value;
  if (!figures.since(27)) {
    const bool by_other_nics = figures.ranks >= (is_mi300x(figures) ? 64 : 32);
    return by_other_nics && figures.nodes > 1 && figures.nodes <= 16 && bytes <= 4 * kMiB;
  }
  if (figures.ranks % 8 != 0) return false;
  if (is_mi300x(figures)) return bytes <= 4 * kMiB;
  if (figures.nodes == 1) return bytes <= 8 * kMiB;
  return bytes <= (figures.nodes < 64 ? figures.nodes * 2 * kMiB : 72 * kMiB);
}

std::optional<int> rccl_channels_by_size(const PublishedFigures& figures) {
  if (figures.nodes == 1) return std::nullopt;
  const double bytes = std::ceil(figures.call.bytes.value / figures.ranks);
  for (const ChannelsBySize& row :
       channels_by_size(figures.library.version, gpu_of(figures), figures.call.kind)) {
    if (row.bytes.holds(bytes)) return row.channels;
  }
  return std::nullopt;
}

std::optional<double> rccl_bytes_per_thread(const PublishedFigures& figures, Protocol protocol) {
  const CollectiveKind kind = figures.call.kind;
  const bool tuned = kind == CollectiveKind::all_gather || kind == CollectiveKind::reduce_scatter;
  const bool has_rule = is_mi300x(figures) || is_mi355x(figures);
  if (figures.nodes == 1 || !tuned || !has_rule || !figures.since(26) || protocol == Protocol::simple)
    return std::nullopt;
  return (protocol == Protocol::ll ? 16.0 : 64.0) * figures.ranks;
}

}}  // namespace c3::collectives
