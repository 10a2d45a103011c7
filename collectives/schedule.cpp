#include "collectives/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>

#include "collectives/algorithms/entry.hpp"
#include "collectives/edge_folding.hpp"
#include "collectives/library/channel_protocol.hpp"
#include "engine/errors.hpp"
#include "engine/interrupt.hpp"

namespace c3 { inline namespace collectives {
namespace {

constexpr double kMostFlows = 1e7;  // some GB

/// The chunks of the library's size that follow one another through a pipelined graph.
Chunking chunks_of(const TransferGraph& graph, const CollectivePlan& plan, const ClusterSpec& cluster) {
  if (!graph.pipelined) return {};
  if (plan.backend != Backend::cu) {  // what all channels pass on at once: engines have none to leave out
    Bytes longest;
    for (const Transfer& transfer : graph.transfers)
      longest = std::max(longest, transfer.bytes);
    const CollectiveLibrarySpec& library = cluster.library;
    const int channels = channels_of(cluster, plan.call, plan.method.algorithm);
    return whole_chunks(longest, library.chunk_size * std::max(1.0, 1.0 * channels / graph.lanes));
  }
  return ChannelProtocol(cluster, plan.call, plan.method, graph).chunks();
}

/// Copy engines have every chunk written out as a command.
void check_flows(const TransferGraph& graph, const std::string& name, CollectiveGrain grain, int chunks) {
  const double flows = static_cast<double>(chunks) * static_cast<double>(graph.transfers.size());
  if (grain == CollectiveGrain::step && flows > kMostFlows) {
    throw InfeasibleError(fmt::format(
        "{}: grain step would make {:.3g} flows, one for each chunk; use edge or gang", name, flows));
  }
}

/// Channels send the pieces of a pipeline as they come; a gang has no edges, copy engines have commands.
bool runs_piece_by_piece(const CollectivePlan& plan, const TransferGraph& graph, CollectiveGrain grain) {
  return plan.backend == Backend::cu && graph.pipelined && grain != CollectiveGrain::gang;
}

GraphForm form_of(const CollectivePlan& plan, const ClusterSpec& cluster, bool folded) {
  GraphForm form;
  form.folded = folded;
  const CollectiveLibrarySpec& library = cluster.library;
  const bool in_pairs = plan.method.algorithm->channels.use == ChannelUse::pairs;
  const bool shared =
      (in_pairs && library.peers_share_channels) || plan.method.algorithm->channels.use == ChannelUse::windows;
  if (plan.backend == Backend::cu && !shared)
    form.most_lanes = channels_of(cluster, plan.call, plan.method.algorithm);
  if (!in_pairs && !shared && plan.method.channels.most > 0)  // several pairs share a channel
    form.most_lanes = std::min(form.most_lanes, plan.method.channels.most);
  return form;
}

TransferGraph graph_of(const CollectivePlan& plan, const ClusterSpec& cluster, GraphForm form, bool every_step,
                       CollectiveGrain grain) {
  constexpr int kRingParts = 32;
  form.every_step = every_step;
  form.ring_parts = grain == CollectiveGrain::edge ? kRingParts : 1;
  return make_transfer_graph(plan.call, plan.method.algorithm, cluster, form);
}

CollectiveGrain grain_of(const CollectivePlan& plan, const ClusterSpec& cluster, const GraphForm& form) {
  if (plan.grain != CollectiveGrain::automatic) return plan.grain;
  const TransferGraph told = graph_of(plan, cluster, form, /*every_step=*/false, CollectiveGrain::gang);
  return choose_grain(told, chunks_of(told, plan, cluster).count);
}

void add_jobs(CollectiveSchedule& schedule, const CollectivePlan& plan) {
  if (plan.backend != Backend::dma) return;
  schedule.jobs = make_dma_jobs(schedule.graph, schedule.flows, plan.dma.variant, schedule.grain);
}

CollectiveSchedule make_schedule(const CollectivePlan& plan, const ClusterSpec& cluster, bool folded) {
  const GraphForm form = form_of(plan, cluster, folded);
  CollectiveSchedule schedule;
  schedule.grain = grain_of(plan, cluster, form);
  const bool by_step = schedule.grain == CollectiveGrain::step;
  // Rings of channels are not written out at grain step: transfers would be ranks times steps.
  if (plan.backend == Backend::cu && by_step)
    schedule.rings = turning_rings(plan.call, plan.method.algorithm, cluster, form);
  schedule.graph = graph_of(plan, cluster, form, by_step && schedule.rings.empty(), schedule.grain);
  if (!schedule.rings.empty()) return schedule;
  const Chunking chunks = chunks_of(schedule.graph, plan, cluster);
  if (runs_piece_by_piece(plan, schedule.graph, schedule.grain)) {
    schedule.pipeline = plan_pipeline(schedule.graph, schedule.grain, chunks);
    return schedule;
  }
  check_flows(schedule.graph, plan.name, schedule.grain, chunks.count);
  schedule.flows = plan_flows(schedule.graph, schedule.grain, chunks);
  add_jobs(schedule, plan);
  return schedule;
}

/// The graph of a group of each kind, one after another.
TransferGraph graph_of_kinds(const CollectivePlan& plan, const ClusterSpec& cluster, const GraphForm& form,
                             const std::vector<AlikeGroups>& kinds, CollectiveGrain grain) {
  TransferGraph all;
  for (const AlikeGroups& kind : kinds) {
    checkpoint();
    CollectivePlan of_group = plan;
    of_group.call.ranks = kind.front();
    of_group.call.groups.reset();
    TransferGraph graph = graph_of(of_group, cluster, form, /*every_step=*/false, grain);
    const auto first = static_cast<std::uint32_t>(all.transfers.size());
    for (Transfer& transfer : graph.transfers) {
      for (std::uint32_t& before : transfer.after)
        before += first;
    }
    if (first == 0) {
      all = std::move(graph);
    } else {
      std::ranges::move(graph.transfers, std::back_inserter(all.transfers));
    }
  }
  return all;
}

/// The ranks that stand for the members of all \p groups, each once.
std::vector<int> stand_ins_of(const AlikeGroups& groups, const RankPartition& classes) {
  std::vector<bool> has_come(static_cast<std::size_t>(classes.classes()));
  std::vector<int> ranks;
  for (const std::vector<int>& group : groups) {
    for (const int rank : group) {
      const int number = classes.class_of(rank);
      if (has_come[static_cast<std::size_t>(number)]) continue;
      has_come[static_cast<std::size_t>(number)] = true;
      ranks.push_back(classes.representative(number));
    }
  }
  return ranks;
}

/// Rings move at one pace unless edges are asked for: their edges wait for one another.
CollectiveGrain class_grain(const CollectivePlan& plan) {
  if (plan.grain == CollectiveGrain::edge || plan.grain == CollectiveGrain::gang) return plan.grain;
  const bool turns = plan.method.algorithm->channels.use == ChannelUse::rings && !is_rooted(plan.call.kind);
  return turns ? CollectiveGrain::gang : CollectiveGrain::edge;
}

/// For all groups of the plan, of which members of a class have one GPU. Steps are told as one: members of a
/// class end together only where those of a collective do.
CollectiveSchedule make_class_schedule(const CollectivePlan& plan, const ClusterSpec& cluster,
                                       Interconnect& links, const RankPartition& classes) {
  const AlikeGroups groups = plan.groups ? *plan.groups : AlikeGroups{members_of(plan.call, cluster.ranks())};
  const std::vector<AlikeGroups> kinds = by_kind(groups, classes, cluster.node.gpus);
  CollectiveSchedule schedule;
  schedule.stand_ins = stand_ins_of(groups, classes);
  schedule.grain = class_grain(plan);
  schedule.graph =
      graph_of_kinds(plan, cluster, form_of(plan, cluster, /*folded=*/false), kinds, schedule.grain);
  const bool is_uneven = plan.call.kind == CollectiveKind::all_to_all_v && has_uneven_lanes(schedule.graph);
  EdgeFolding folding(links, classes, kinds, is_uneven);
  const Chunking chunks = chunks_of(schedule.graph, plan, cluster);
  if (runs_piece_by_piece(plan, schedule.graph, schedule.grain)) {
    schedule.pipeline = plan_pipeline(schedule.graph, schedule.grain, chunks, &folding);
  } else {
    schedule.flows = plan_flows(schedule.graph, schedule.grain, chunks, &folding);
    add_jobs(schedule, plan);
  }
  schedule.folded_call = links.end_call();
  schedule.shares = folding.take_shares();
  schedule.inequity = folding.inequity();
  return schedule;
}

/// Hashes the parts in which the calls of one program differ most.
std::size_t hash_of(const CollectivePlan& plan) {
  const CollectiveCall& call = plan.call;
  std::size_t hash = std::hash<double>()(call.bytes.value);
  const auto add = [&hash](std::size_t part) { hash = hash * 1099511628211ULL + part; };
  add(static_cast<std::size_t>(call.kind));
  add(call.ranks.size());
  add(call.ranks.empty() ? 0 : static_cast<std::size_t>(call.ranks.front()));
  return hash;
}

}  // namespace

bool KnownSchedule::is_of(const CollectivePlan& plan) const {
  const auto equal = [](const auto& a, const auto& b) { return a == b || (a && b && *a == *b); };
  return grain == plan.grain && backend == plan.backend && method == plan.method && call == plan.call &&
         equal(groups, plan.groups) && (backend != Backend::dma || variant == plan.dma.variant);
}

std::shared_ptr<const CollectiveSchedule> ScheduleStore::of(const CollectivePlan& plan) {
  const std::size_t hash = hash_of(plan);
  const auto [begin, end] = places_.equal_range(hash);
  const auto found =
      std::find_if(begin, end, [&](const auto& place) { return known_[place.second].is_of(plan); });
  if (found != end) return known_[found->second].schedule;
  std::shared_ptr<const CollectiveSchedule> schedule = make(plan);  // throws where the plan cannot run
  places_.emplace(hash, known_.size());
  known_.push_back(
      {plan.call, plan.backend, plan.method, plan.grain, plan.dma.variant, plan.groups, std::move(schedule)});
  return known_.back().schedule;
}

// What was made before is taken over in its order alone: edges have numbers.
std::shared_ptr<const CollectiveSchedule> ScheduleStore::make(const CollectivePlan& plan) {
  if (before_ != nullptr) {
    const bool is_next =
        known_.size() < before_->in_order.size() && before_->in_order[known_.size()].is_of(plan);
    if (!is_next) throw UnlikeSchedules();
    return before_->in_order[known_.size()].schedule;
  }
  if (classes_ == nullptr)
    return std::make_shared<const CollectiveSchedule>(make_schedule(plan, spec_, folded_));
  const std::size_t sets = links_->folded_links()->sets();
  auto schedule =
      std::make_shared<const CollectiveSchedule>(make_class_schedule(plan, spec_, *links_, *classes_));
  sets_ += links_->folded_links()->sets() - sets;
  return schedule;
}

void ScheduleStore::end() const {
  if (before_ != nullptr && known_.size() < before_->in_order.size()) throw UnlikeSchedules();
}

std::vector<KnownSchedule> ScheduleStore::in_order() const {
  const bool are_all = classes_ != nullptr && links_->folded_links()->sets() == sets_;
  return are_all ? known_ : std::vector<KnownSchedule>();
}

double ScheduleStore::inequity() const {
  double greatest = 0.0;
  for (const KnownSchedule& known : known_)
    greatest = std::max(greatest, known.schedule->inequity);
  return greatest;
}

}}  // namespace c3::collectives
