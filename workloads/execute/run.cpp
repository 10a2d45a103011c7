#include "workloads/execute/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "engine/errors.hpp"
#include "workloads/execute/collective_choice.hpp"
#include "workloads/execute/draw_keys.hpp"
#include "workloads/execute/launch_skew.hpp"
#include "workloads/execute/stream_program.hpp"

namespace c3::inline workloads {
namespace {

/// Streams in the order in which the strategy enqueues them at time 0; those it does not name come last.
std::vector<std::size_t> enqueue_order(const Experiment& experiment, const Strategy& strategy) {
  std::vector<std::size_t> order;
  for (const std::string& name : strategy.order) {
    const auto found = std::ranges::find(experiment.streams, name, &StreamSpec::name);
    if (found == experiment.streams.end()) {
      throw InfeasibleError("strategy '" + strategy.name + "': no stream '" + name + "'");
    }
    order.push_back(static_cast<std::size_t>(found - experiment.streams.begin()));
  }
  for (std::size_t i = 0; i < experiment.streams.size(); ++i) {
    if (std::ranges::find(order, i) == order.end()) order.push_back(i);
  }
  return order;
}

/// As the strategy has it.
ClusterSpec cluster_spec(const Experiment& experiment, const Strategy& strategy) {
  ClusterSpec cluster = experiment.cluster;
  if (strategy.hbm_arbitration) cluster.gpu.hbm.arbitration = *strategy.hbm_arbitration;
  return cluster;
}

ClusterSetup cluster_setup(const Experiment& experiment, const Strategy& strategy, const RunSetup& setup) {
  ClusterSetup cluster;
  for (const StreamSpec& stream : experiment.streams)
    cluster.gpu.streams.push_back(stream.name);
  cluster.gpu.isolation = setup.isolation;
  cluster.gpu.seed = (experiment.measure.seed << 20U) + setup.seed;
  cluster.folded = folds(experiment, strategy);
  return cluster;
}

void widen(SideSpan& total, const SideSpan& part) {
  if (!part.any) return;
  total.release = total.any ? std::min(total.release, part.release) : part.release;
  total.end = std::max(total.end, part.end);
  total.any = true;
}

/// Everything one run owns, in order of dependence.
class Run {
 public:
  Run(const Experiment& experiment, const Strategy& strategy, const RunSetup& setup)
      : experiment_(experiment),
        strategy_(strategy),
        setup_(setup),
        simulation_(setup.observer),
        spec_(cluster_spec(experiment, strategy)),
        cluster_(simulation_, spec_, cluster_setup(experiment, strategy, setup)),
        order_(enqueue_order(experiment, strategy)) {
    make_contexts();
    for (StreamContext& context : contexts_) {
      for (std::size_t i = 0; i < context.collectives.size(); ++i)
        fuse(context, i);
    }
    make_programs();
  }

  RunResult execute() {
    spawn();
    simulation_.run();
    return result();
  }

 private:
  void make_contexts() {
    const std::size_t streams = experiment_.streams.size();
    const CuChoice choice = setup_.cus.empty() ? CuChoice(streams, 0) : setup_.cus;
    std::vector<CuRange> ranges = cu_ranges(experiment_, strategy_, choice);
    // A private copy of the CUs needs no mask, and an isolated run has the whole GPU.
    if (setup_.isolation.has(SharedResource::cus)) {
      std::ranges::fill(ranges, CuRange{0, experiment_.cluster.gpu.compute.cus_per_xcd});
    }
    for (std::size_t i = 0; i < streams; ++i) {
      const StreamSpec& stream = experiment_.streams[i];
      const auto position = std::ranges::find(order_, i) - order_.begin();
      contexts_.push_back({&experiment_, &stream, static_cast<int>(i), static_cast<int>(position),
                           policy_of(strategy_, stream.name), ranges[i], filter_of(i), draw_keys(stream),
                           std::vector<GroupRuns>(stream.operations.size()),
                           std::vector<const GroupRuns*>(stream.operations.size(), nullptr)});
      for (std::size_t j = 0; j < stream.operations.size(); ++j)
        make_collectives(contexts_.back(), j);
    }
  }

  OperationFilter filter_of(std::size_t stream) const {
    return setup_.only_stream.value_or(stream) == stream ? setup_.filter : OperationFilter::none;
  }

  void make_collectives(StreamContext& context, std::size_t operation) {
    const Operation& spec = context.stream->operations[operation];
    const auto* call = std::get_if<CollectiveCall>(&spec.work);
    if (call == nullptr || !context.has(OperationFilter::collectives)) return;
    const auto plan_of_group = [&](const CollectiveCall& of_group) {
      return plan_of(context, operation, of_group);
    };
    try {
      context.collectives[operation] = GroupRuns(cluster_, *call, spec.on, plan_of_group);
    } catch (const InfeasibleError& error) {
      throw InfeasibleError(
          fmt::format("strategy '{}', stream '{}': {}", strategy_.name, context.stream->name, error.what()));
    }
  }

  CollectivePlan plan_of(const StreamContext& context, std::size_t operation,
                         const CollectiveCall& call) const {
    CollectivePlan plan;
    plan.name = context.stream->operations[operation].name;
    plan.call = call;
    plan.backend = context.policy.backend;
    plan.method = method_of(call, context.policy, experiment_.cluster);
    plan.dma = context.policy.dma;
    plan.reduction = context.policy.reduction;
    plan.grain = experiment_.measure.collective_grain;
    plan.stream = context.index;
    plan.priority = context.policy.priority;
    plan.order = context.order;
    plan.range = context.range;
    plan.draw = context.draws[operation];
    return plan;
  }

  /// Hands a fused collective to the kernel that makes its data.
  void fuse(const StreamContext& context, std::size_t operation) {
    const GroupRuns& fused = context.collectives[operation];
    if (fused.is_empty() || context.policy.backend != Backend::fused) return;
    const auto refuse = [&](const std::string& why) {
      throw InfeasibleError(fmt::format("strategy '{}', stream '{}': {}: {}", strategy_.name,
                                        context.stream->name, context.stream->operations[operation].name, why));
    };
    const auto place = producer_of(experiment_.streams, {static_cast<std::size_t>(context.index), operation});
    if (!place)
      refuse(
          R"(backend = "fused" needs the kernel that makes its data right before it on its stream, or before the )"
          "event that it waits for");
    StreamContext& producer = contexts_[place->stream];
    const Operation& kernel = producer.stream->operations[place->operation];
    if (grain_of(experiment_.measure, *kernel_of(kernel)) == KernelGrain::fluid)
      refuse(R"(backend = "fused" follows work groups: measure.kernel_grain must be "cohort" or "work_group")");
    if (std::exchange(producer.fused[place->operation], &fused) != nullptr)
      refuse(fmt::format("'{}' is fused with another collective already",
                         producer.stream->operations[place->operation].name));
  }

  void make_programs() {
    const ClusterSetup& setup = cluster_.setup();
    std::vector<Seconds> launches =
        launch_delays(cluster_.spec().gpu.host.launch_skew, cluster_.ranks(), setup.gpu.seed);
    // A rank that stands for all is the last to launch: whatever takes all ranks waits for that one.
    if (setup.folded) std::swap(launches.front(), *std::ranges::max_element(launches));
    for (int rank = 0; rank < cluster_.simulated_ranks(); ++rank) {
      EventTable& events = events_.emplace_back(simulation_, rank);
      const Seconds launch = launches[static_cast<std::size_t>(rank)];
      HostThread* const host = make_host(events, rank, launch);
      for (const StreamContext& context : contexts_)
        programs_.emplace_back(cluster_, context, events, host, rank, launch);
    }
  }

  HostThread* make_host(EventTable& events, int rank, Seconds start) {
    if (!experiment_.host) return nullptr;
    const HostOrder order = strategy_.serial ? HostOrder::one_by_one : HostOrder::by_queue;
    return &hosts_.emplace_back(simulation_, *experiment_.host, experiment_.streams, order, events, rank,
                                start);
  }

  StreamProgram& program(int rank, std::size_t stream) {
    return programs_[static_cast<std::size_t>(rank) * contexts_.size() + stream];
  }

  void spawn() {
    for (int rank = 0; rank < cluster_.simulated_ranks(); ++rank) {
      Event* first = nullptr;
      for (const std::size_t stream : order_) {
        StreamProgram& next = program(rank, stream);
        simulation_.spawn(next.name(), next.run(first));
        if (strategy_.serial && !experiment_.host) first = &next.ended();
      }
      if (experiment_.host) {
        HostThread& host = hosts_[static_cast<std::size_t>(rank)];
        simulation_.spawn(host.name(), host.run());
      }
    }
  }

  RunResult result() {
    RunResult result;
    result.events = simulation_.fluid().completed_flows();
    result.streams.resize(contexts_.size());
    for (std::size_t i = 0; i < programs_.size(); ++i) {
      for (const SideSpan& span : {programs_[i].kernels(), programs_[i].collectives()})
        widen(result.streams[i % contexts_.size()], span);
      widen(result.kernels, programs_[i].kernels());
      widen(result.collectives, programs_[i].collectives());
    }
    result.time = std::max(result.kernels.end, result.collectives.end) + host_join(result.streams);
    if (strategy_.hbm_arbitration)
      result.notes.push_back(fmt::format("HBM arbitration {}", name_of(*strategy_.hbm_arbitration)));
    for (const StreamContext& context : contexts_) {
      for (const GroupRuns& collective : context.collectives)
        add_notes(result.notes, collective);
    }
    for (int rank = 0; rank < cluster_.simulated_ranks(); ++rank) {
      for (std::size_t stream = 0; stream < contexts_.size(); ++stream)
        add_records(result, rank, stream);
    }
    if (experiment_.training) result.step = step_breakdown(operations_of_first_rank(), result.time);
    return result;
  }

  std::vector<TimedOperation> operations_of_first_rank() {
    std::vector<TimedOperation> timed;
    for (std::size_t stream = 0; stream < contexts_.size(); ++stream) {
      const std::vector<SideSpan>& spans = program(0, stream).operations();
      for (std::size_t i = 0; i < spans.size(); ++i) {
        if (spans[i].any)
          timed.push_back({&contexts_[stream].stream->operations[i], spans[i].release, spans[i].end});
      }
    }
    return timed;
  }

  static void add_notes(std::vector<std::string>& notes, const GroupRuns& collective) {
    for (const auto& run : collective.all()) {
      std::string note = run ? run->note() : std::string();
      if (!note.empty() && std::ranges::find(notes, note) == notes.end()) notes.push_back(std::move(note));
    }
  }

  /// A host sees the end of one stream in any case; only of several must it gather the ends.
  Seconds host_join(const std::vector<SideSpan>& streams) const {
    const bool isolated = setup_.filter != OperationFilter::all || setup_.only_stream.has_value();
    const bool beside = std::ranges::count_if(streams, &SideSpan::any) > 1 && !strategy_.serial;
    return beside && !isolated ? cluster_.spec().gpu.host.join : Seconds{};
  }

  void add_records(RunResult& result, int rank, std::size_t stream) {
    for (std::size_t i = 0; i < contexts_[stream].collectives.size(); ++i) {
      const CollectiveRun* run = contexts_[stream].collectives[i].of(rank);
      if (run == nullptr) continue;
      const CollectivePlan& plan = run->plan();
      const SideSpan& span = program(rank, stream).operations()[i];
      if (!span.any) continue;  // not of the group
      result.records.push_back({.name = plan.name,
                                .op = plan.call.kind,
                                .backend = plan.backend,
                                .method = plan.method,
                                .gpu = rank,
                                .channels = run->width(),
                                .bytes = counted_bytes(plan.call, run->members()),
                                .start = span.release,
                                .end = span.end,
                                .algbw = algorithm_bandwidth(plan.call, run->members(), span.duration()),
                                .busbw = bus_bandwidth(plan.call, run->members(), span.duration())});
    }
  }

  const Experiment& experiment_;
  const Strategy& strategy_;
  const RunSetup& setup_;
  Simulation simulation_;
  const ClusterSpec spec_;
  Cluster cluster_;
  std::vector<std::size_t> order_;  ///< streams as enqueued
  std::deque<StreamContext> contexts_;
  std::deque<EventTable> events_;       ///< by simulated rank
  std::deque<HostThread> hosts_;        ///< by simulated rank; none where the experiment has no host
  std::deque<StreamProgram> programs_;  ///< by simulated rank, then stream
};

}  // namespace

RunResult run_once(const Experiment& experiment, const Strategy& strategy, const RunSetup& setup) {
  return Run(experiment, strategy, setup).execute();
}

}  // namespace c3::workloads
