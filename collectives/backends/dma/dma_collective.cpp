#include "collectives/backends/dma/dma_collective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "engine/errors.hpp"

namespace c3 { inline namespace collectives {
namespace {

/// Before the graph is made, so that what copy engines can never do is said first.
CollectivePlan checked(CollectivePlan plan, const Cluster& cluster) {
  check_dma(plan.name, plan.call, plan.method.algorithm, plan.dma.variant, cluster.spec().gpu);
  if (cluster.setup().folded && !may_fold(plan.dma))
    throw std::logic_error("DmaCollective: ranks that are not alike are folded");
  return plan;
}

void refuse_other_nodes(const CollectivePlan& plan, const TransferGraph& graph, int gpus_of_node) {
  const auto crosses = [&](const Transfer& t) { return t.src / gpus_of_node != t.dst / gpus_of_node; };
  if (std::ranges::none_of(graph.transfers, crosses)) return;
  throw InfeasibleError(fmt::format(
      "{}: copy engines reach only the GPUs of their own node; between nodes use backend = \"cu\"", plan.name));
}

/// Lanes that the busiest rank wants an engine for.
int lanes_of(const std::vector<DmaJob>& jobs) {
  int lanes = 1;
  for (const DmaJob& job : jobs) {
    for (const DmaSubmission& submission : job.submissions)
      lanes = std::max(lanes, submission.lane + 1);
  }
  return lanes;
}

/// What all edges for which \p leg stands send that leave one GPU.
Bytes sent(const Leg& leg) { return leg.bytes * (leg.shares == nullptr ? 1.0 : leg.shares->of_sender); }

/// What a command takes of its engine, as bytes at the engine's bandwidth.
double engine_bytes(const DmaSpec& dma, DmaVariant variant, const DmaCommand& command) {
  double bytes = 0.0;
  for (const Leg& leg : command)
    bytes += sent(leg).value;
  if (command.size() == 1) return bytes;
  return bytes *
         (dma.engine_bandwidth / (variant == DmaVariant::bcst ? dma.broadcast_bandwidth : dma.swap_bandwidth));
}

Bytes bytes_of(const DmaJob& job) {
  Bytes bytes;
  for (const DmaSubmission& submission : job.submissions) {
    for (const DmaCommand& command : submission.commands) {
      for (const Leg& leg : command)
        bytes += leg.bytes;
    }
  }
  return bytes;
}

}  // namespace

DmaCollective::DmaCollective(Cluster& cluster, CollectivePlan plan)
    : CollectiveRun(cluster, checked(std::move(plan), cluster)), jobs_(schedule_->jobs) {
  refuse_other_nodes(plan_, graph_, cluster.spec().node.gpus);
  width_ = std::min(lanes_of(jobs_), cluster.spec().gpu.dma.engines);
}

void DmaCollective::start(int rank) {
  if (rank == simulated().front()) simulation_.spawn(plan_.name, run());
}

Task DmaCollective::run() {
  co_await all_joined();
  begin_jobs();
  for (Progress& job : *progress_)
    co_await job.seen;
  progress_.reset();
  finish();
}

void DmaCollective::begin_jobs() {
  progress_.emplace();
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    Progress& job = progress_->emplace_back(simulation_);
    for (Event* event : {&job.signalled, &job.seen})
      event->describe_by([this] { return plan_.name + " transfer"; });
  }
  for (std::size_t i = 0; i < jobs_.size(); ++i)
    simulation_.spawn(plan_.name, run_job(i), &(*progress_)[i].seen);
}

// A prelaunched engine polls the signal of the one before it. Otherwise the host must see it first.
Task DmaCollective::run_job(std::size_t index) {
  const DmaJob& job = jobs_[index];
  for (const std::uint32_t before : job.after) {
    Event& ended = plan_.dma.prelaunch ? (*progress_)[before].signalled : (*progress_)[before].seen;
    co_await ended;
  }
  DmaCopy copy = copy_of(job);
  ActivityId* const activity = &(*progress_)[index].activity;
  co_await run_copy(simulation_, std::move(copy), activity, &(*progress_)[index].signalled);
  simulation_.add_dependency(*activity, rank_activity(job.submissions.front().rank), DependencyKind::launch);
  for (const std::uint32_t before : job.after)
    simulation_.add_dependency(*activity, (*progress_)[before].activity, DependencyKind::data);
}

DmaCopy DmaCollective::copy_of(const DmaJob& job) const {
  DmaCopy copy;
  copy.hops = job.hops;
  copy.prelaunched = plan_.dma.prelaunch;
  add_uses(copy, job);
  std::size_t stages = 0;
  for (const DmaSubmission& submission : job.submissions) {
    stages = std::max(stages, submission.commands.size());
    for (const DmaCommand& command : submission.commands) {
      for (const Leg& leg : command)
        copy.latency = std::max(copy.latency, cluster_.interconnect().latency(leg.src, leg.dst));
    }
  }
  for (std::size_t i = 0; i < stages; ++i)
    copy.stages.push_back(stage_of(job, i));
  const DmaSubmission& first = job.submissions.front();
  copy.info = transfer_info(first.commands.front().front(), ActivityKind::transfer);
  copy.info.bytes = bytes_of(job);
  copy.info.engine = engine_of(first);
  return copy;
}

/// An engine that serves several submissions of a gang serves them one after another.
void DmaCollective::add_uses(DmaCopy& copy, const DmaJob& job) const {
  const bool feeds_all = cluster_.setup().folded && plan_.dma.host == DmaHost::node;
  const int alike = feeds_all ? cluster_.spec().node.gpus : 1;  // submissions of a host for each one here
  std::vector<std::pair<FifoLock*, int>> submitted;             // one per host
  for (const DmaSubmission& submission : job.submissions) {
    DmaEngines& engines = cluster_.gpu(submission.rank).dma();
    FifoLock* const host =
        plan_.dma.host == DmaHost::node ? &cluster_.host_of_node(submission.rank) : &engines.host();
    auto count = std::ranges::find(submitted, host, &std::pair<FifoLock*, int>::first);
    if (count == submitted.end()) count = submitted.insert(submitted.end(), {host, 0});
    const int place = count->second += alike;
    const int engine = engine_of(submission);
    Seconds alone;
    for (const DmaCommand& command : submission.commands)
      alone +=
          Bytes{engine_bytes(engines.spec(), plan_.dma.variant, command)} / engines.spec().engine_bandwidth;
    const auto use = std::ranges::find_if(
        copy.uses, [&](const EngineUse& other) { return other.engines == &engines && other.engine == engine; });
    if (use == copy.uses.end()) {
      copy.uses.push_back({&engines, engine, host, 1, place, place, alone});
    } else {
      ++use->submissions;
      use->last = place;
      use->alone += alone;
    }
  }
}

DmaStage DmaCollective::stage_of(const DmaJob& job, std::size_t position) const {
  const DmaSpec& dma = cluster_.spec().gpu.dma;
  DmaStage stage;
  Bytes total;
  double most = 0.0;
  int legs = 0;
  for (const DmaSubmission& submission : job.submissions) {
    if (position >= submission.commands.size()) continue;
    const DmaCommand& command = submission.commands[position];
    Carriage carriage{.write = dma.write_bytes};
    for (const Leg& leg : command) {
      for (const Demand& demand : path(leg, carriage))
        add_demand(stage.demands, demand.resource, demand.amount);
      total += sent(leg);
      ++legs;
      if (plan_.dma.variant == DmaVariant::bcst) carriage.read = 0.0;  // the first leg has read it
    }
    const double bytes = engine_bytes(dma, plan_.dma.variant, command);
    add_demand(stage.demands, cluster_.gpu(submission.rank).dma().bandwidth(engine_of(submission)), bytes);
    most = std::max(most, bytes);
  }
  const Bytes at_hbm = total * (1.0 + dma.write_bytes);  // a read at the source, a write at the target
  const Memory& memory = cluster_.gpu(job.submissions.front().rank).memory();
  stage.priority = memory.communication_class();
  stage.weight = memory.weight(dma.outstanding, legs, at_hbm, dma.engine_bandwidth.value / most);
  return stage;
}

}}  // namespace c3::collectives
