#include "workloads/execute/folding.hpp"

#include <algorithm>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/backends/entry.hpp"
#include "collectives/rank_conditions.hpp"
#include "workloads/execute/collective_choice.hpp"
#include "workloads/execute/partition.hpp"
#include "workloads/program/common_dates.hpp"
#include "workloads/program/message_ways.hpp"
#include "workloads/program/rank_classes.hpp"

namespace c3 { inline namespace workloads {
namespace {

/// Whether loads of links can be added up: a hash makes each rank's its own.
bool has_averages(const ClusterSpec& cluster) {
  const FabricSpec& fabric = *cluster.fabric;
  switch (fabric.topology) {
    case FabricTopology::single_switch:
      return true;
    case FabricTopology::leaf_spine:
    case FabricTopology::fat_tree:
      return fabric.routing == FabricRouting::adaptive ||
             (fabric.tree.spines == 1 && fabric.tree.spine_cores <= 1);
    case FabricTopology::dragonfly:
    case FabricTopology::torus:
      return false;
  }
  return false;
}

/// Channels, stores of kernels, and engines that copy from edge to edge, fed by a host each.
bool edges_may_stand_for_others(const StreamPolicy& policy) {
  if (policy.backend == Backend::cu || policy.backend == Backend::fused) return true;
  return policy.backend == Backend::dma && policy.dma.variant == DmaVariant::pcpy && is_symmetric(policy.dma);
}

bool has_classes_of_edges(const Experiment& experiment, const Strategy& strategy) {
  const Program& program = experiment.program;
  return std::ranges::all_of(program.streams, [&](const std::string& stream) {
    return edges_may_stand_for_others(policy_of(strategy, stream)) ||
           !content_of(program, *program.stream_named(stream)).collectives;
  });
}

/// Whether all GPUs of a node see alike links.
bool gpus_are_alike(const ClusterSpec& cluster) {
  const int gpus = cluster.node.gpus;
  const int nics = cluster.fabric->nics_per_node;
  return is_symmetric(cluster.node) && (gpus % nics == 0 || nics % gpus == 0);
}

/// What tells ranks apart beside their programs: what is stated of them and, on nodes whose GPUs have unlike
/// links, the GPU.
std::vector<std::uint32_t> hardware_apart(const ClusterSpec& cluster) {
  std::vector<std::uint32_t> apart = numbered_conditions(cluster);
  if (gpus_are_alike(cluster)) return apart;
  const int gpus = cluster.node.gpus;
  apart.resize(static_cast<std::size_t>(cluster.ranks()));
  for (std::size_t rank = 0; rank < apart.size(); ++rank)
    apart[rank] = apart[rank] * static_cast<std::uint32_t>(gpus) +
                  static_cast<std::uint32_t>(rank % static_cast<std::size_t>(gpus));
  return apart;
}

/// By rank, equal numbers for equal conditions.
std::vector<std::uint32_t> numbered(const std::vector<RankCondition>& conditions) {
  std::vector<RankCondition> known;
  std::vector<std::uint32_t> numbers;
  for (const RankCondition& condition : conditions) {
    const auto found = std::ranges::find(known, condition);
    numbers.push_back(static_cast<std::uint32_t>(found - known.begin()));
    if (found == known.end()) known.push_back(condition);
  }
  return numbers;
}

/// A lower clock slows kernels and, where channels depend on it, transfers.
RankDifferences differences_of(const ClusterSpec& cluster, std::vector<std::uint32_t> apart) {
  std::vector<RankCondition> begins = rank_conditions(cluster), kernels = begins, transfers = begins;
  for (std::size_t rank = 0; rank < begins.size(); ++rank) {
    begins[rank] = {.late = begins[rank].late};
    kernels[rank] = {.factor = kernels[rank].factor};
    transfers[rank].late = {};
    if (cluster.library.clock_share == 0.0) transfers[rank].factor = 1.0;
  }
  std::vector<std::uint32_t> of_transfers = gpus_are_alike(cluster) ? numbered(transfers) : apart;
  return {std::move(apart), numbered(begins), numbered(kernels), std::move(of_transfers)};
}

bool has_buffered_messages(const Experiment& experiment) {
  bool found = false;
  for_each_operation(experiment.program, [&](const Operation& operation) {
    const auto* exchange = std::get_if<Exchange>(&operation.work);
    if (exchange == nullptr) return;
    for (const Message& message : exchange->messages)
      found |= is_buffered(Backend::cu, message.bytes, experiment.cluster.library);
  });
  return found;
}

bool sends_to_itself(const Program& program, const RankPartition& classes, const MessageWay& way) {
  const RankGroups& groups = program.communicators[way.communicator].groups;
  for (int rank = 0; rank < classes.ranks(); ++rank) {
    if (way.sends[program.script_number(rank)] &&
        classes.class_of(peer_of(groups, rank, way.offset)) == classes.class_of(rank))
      return true;
  }
  return false;
}

bool sends_to_itself(const Program& program, const RankPartition& classes) {
  return std::ranges::any_of(message_ways(program),
                             [&](const MessageWay& way) { return sends_to_itself(program, classes, way); });
}

/// Whether its messages all stay within a node, or all leave it: else some take longer than those of others.
bool are_alike(const Program& program, const MessageWay& way, int ranks, int node_gpus) {
  const RankGroups& groups = program.communicators[way.communicator].groups;
  int messages = 0, leaving = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    if (!way.sends[program.script_number(rank)]) continue;
    ++messages;
    if (peer_of(groups, rank, way.offset) / node_gpus != rank / node_gpus) ++leaving;
  }
  return leaving == 0 || leaving == messages;
}

/// Places of a group after which a rank is like one before: 2 where messages go to neighbours, all places where
/// they also go to ranks that are further on.
int period_of_places(const Program& program, CommunicatorId communicator) {
  const RankGroups& groups = program.communicators[communicator].groups;
  const bool are_neighbours = std::ranges::all_of(message_ways(program), [&](const MessageWay& way) {
    return way.communicator != communicator || way.offset % 2 != 0;
  });
  return are_neighbours ? 2 : groups.size;
}

/// \p apart, and where a rank would send to one like itself, as in a ring, its place in its group: first,
/// second, first, second, and the last of an odd number by itself; or all places, where messages go to more
/// than neighbours. One that stands for others then has a neighbour that stands for others. Not so where
/// messages are not alike.
std::vector<std::uint32_t> apart_in_turn(const Program& program, const RankPartition& classes, int node_gpus,
                                         std::vector<std::uint32_t> apart) {
  apart.resize(static_cast<std::size_t>(classes.ranks()));
  std::vector<bool> has_turns(program.communicators.size());
  for (const MessageWay& way : message_ways(program)) {
    if (has_turns[way.communicator] || !sends_to_itself(program, classes, way)) continue;
    if (!are_alike(program, way, classes.ranks(), node_gpus)) continue;
    has_turns[way.communicator] = true;
    const RankGroups& groups = program.communicators[way.communicator].groups;
    const int period = period_of_places(program, way.communicator);
    for (int rank = 0; rank < classes.ranks(); ++rank) {
      const int position = rank / groups.stride % groups.size;
      const bool is_odd_one = groups.size % period != 0 && position + 1 == groups.size;
      std::uint32_t& number = apart[static_cast<std::size_t>(rank)];
      number = number * static_cast<std::uint32_t>(period + 1) +
               static_cast<std::uint32_t>(is_odd_one ? period : position % period);
    }
  }
  return apart;
}

/// Whether the members of every fused group are one class, so that what each sends comes to one like itself.
bool fused_groups_are_alike(const Experiment& experiment, const Strategy& strategy,
                            const RankPartition& classes) {
  const Program& program = experiment.program;
  return std::ranges::all_of(program.calls, [&](const Call& call) {
    if (policy_of(strategy, program.streams[call.stream]).backend != Backend::fused) return true;
    return std::ranges::all_of(calls_by_group(call.what, classes.ranks()), [&](const CollectiveCall& of_group) {
      const std::vector<int> members = members_of(of_group, classes.ranks());
      return std::ranges::all_of(
          members, [&](int rank) { return classes.class_of(rank) == classes.class_of(members.front()); });
    });
  });
}

}  // namespace

bool folds(const Experiment& experiment, const Strategy& strategy) {
  if (experiment.measure.fold == Fold::none || !is_symmetric(experiment.cluster)) return false;
  const Program& program = experiment.program;
  if (program.scripts.size() > 1 || !program.communicators.empty()) return false;
  return std::ranges::all_of(program.calls, [&](const Call& call) {
    const StreamPolicy policy = policy_of(strategy, program.streams[call.stream]);
    // One thread that feeds all groups comes to one after another.
    const bool fed_alike = call.what.groups ? is_symmetric(policy.dma) : may_fold(policy.dma);
    if (backend_of(call.what, policy, experiment.cluster) == Backend::dma && !fed_alike) return false;
    return is_symmetric(call.what, method_of(call.what, policy, experiment.cluster).algorithm,
                        experiment.cluster);
  });
}

std::shared_ptr<const RankPartition> classes_of(const Experiment& experiment, const Strategy& strategy,
                                                const std::vector<std::uint32_t>& apart) {
  const ClusterSpec& cluster = experiment.cluster;
  if (experiment.measure.fold == Fold::none || cluster.nodes == 1 || !cluster.fabric) return nullptr;
  if (experiment.measure.collective_grain == CollectiveGrain::step) return nullptr;
  if (!has_averages(cluster) || !has_classes_of_edges(experiment, strategy)) return nullptr;
  std::vector<std::uint32_t> told = apart.empty() ? hardware_apart(cluster) : apart;
  RankPartition classes = rank_classes(experiment.program, cluster.ranks(), cluster.node.gpus, told);
  if (sends_to_itself(experiment.program, classes)) {
    told = apart_in_turn(experiment.program, classes, cluster.node.gpus, std::move(told));
    classes = rank_classes(experiment.program, cluster.ranks(), cluster.node.gpus, told);
  }
  // What each link carries tells ranks apart whose peers are unlike, so that exact folding would undo it. A
  // buffered message is written beside whatever its receiver does.
  if (experiment.measure.fold == Fold::mean && !has_buffered_messages(experiment))
    classes = merge_common_dates(experiment.program, classes, cluster.node.gpus, differences_of(cluster, told));
  auto partition = std::make_shared<const RankPartition>(std::move(classes));
  if (partition->classes() == partition->ranks() || sends_to_itself(experiment.program, *partition) ||
      !fused_groups_are_alike(experiment, strategy, *partition))
    return nullptr;
  return partition;
}

}}  // namespace c3::workloads
