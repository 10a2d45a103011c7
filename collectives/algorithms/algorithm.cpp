#include "collectives/algorithms/algorithm.hpp"

#include <fmt/format.h>

#include <optional>
#include <stdexcept>

#include "collectives/algorithms/entry.hpp"
#include "engine/errors.hpp"

namespace c3 { inline namespace collectives {
namespace {

/// The shape that every rank's group has, when all groups see the cluster alike: all ranks, part of a node, or
/// one GPU in every so many nodes.
std::optional<GroupShape> common_shape(const CollectiveCall& call, const ClusterSpec& cluster) {
  if (!call.ranks.empty()) return std::nullopt;
  const int gpus = cluster.node.gpus;
  if (!call.groups || call.groups->size == cluster.ranks())
    return GroupShape{cluster.ranks(), cluster.nodes, gpus == 1};
  members_of(call, cluster.ranks());  // refuses groups that there cannot be
  const RankGroups& groups = *call.groups;
  if (gpus % groups.block() == 0) return GroupShape{groups.size, 1, false};
  const bool spans_nodes = groups.stride % gpus == 0 && groups.block() == cluster.ranks();
  return spans_nodes ? std::optional(GroupShape{groups.size, groups.size, true}) : std::nullopt;
}

GraphRequest request_of(const CollectiveCall& call, Algorithm algorithm, const ClusterSpec& cluster,
                        const GraphForm& form, std::vector<int> members) {
  GroupLayout layout = layout_of(members, cluster.node.gpus);
  return {call, algorithm->name, cluster, form, std::move(members), std::move(layout)};
}

}  // namespace

std::string_view name_of(Algorithm algorithm) { return algorithm->name; }

bool supports(Algorithm algorithm, CollectiveKind kind) { return algorithm->supports(kind); }

bool is_symmetric(const CollectiveCall& call, Algorithm algorithm, const ClusterSpec& cluster) {
  const std::optional<GroupShape> group = common_shape(call, cluster);
  if (!group || is_rooted(call.kind) || call.kind == CollectiveKind::all_to_all_v) return false;
  return algorithm->is_symmetric != nullptr && algorithm->is_symmetric(call.kind, *group, cluster.node);
}

TransferGraph make_transfer_graph(const CollectiveCall& call, Algorithm algorithm, const ClusterSpec& cluster,
                                  const GraphForm& form) {
  std::vector<int> members = members_of(call, cluster.ranks());
  if (!supports(algorithm, call.kind)) {
    throw InfeasibleError(
        fmt::format("{}: the {} algorithm does not support it", name_of(call.kind), name_of(algorithm)));
  }
  if (form.folded && !is_symmetric(call, algorithm, cluster))
    throw std::logic_error("make_transfer_graph: ranks differ, so that none stands for all");
  return algorithm->graph(request_of(call, algorithm, cluster, form, std::move(members)));
}

std::vector<TurningRing> turning_rings(const CollectiveCall& call, Algorithm algorithm,
                                       const ClusterSpec& cluster, const GraphForm& form) {
  std::vector<int> members = members_of(call, cluster.ranks());
  const bool turns =
      algorithm->turning_rings != nullptr && supports(algorithm, call.kind) && !is_rooted(call.kind);
  if (!turns) return {};
  return algorithm->turning_rings(request_of(call, algorithm, cluster, form, std::move(members)));
}

}}  // namespace c3::collectives
