#include "workloads/execute/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <utility>

#include "collectives/rank_conditions.hpp"
#include "engine/errors.hpp"
#include "engine/random.hpp"
#include "workloads/execute/board_powers.hpp"
#include "workloads/execute/check_run.hpp"
#include "workloads/execute/collective_choice.hpp"
#include "workloads/execute/collective_records.hpp"
#include "workloads/execute/enqueue_order.hpp"
#include "workloads/execute/folding.hpp"
#include "workloads/execute/fusions.hpp"
#include "workloads/execute/host_copies.hpp"
#include "workloads/execute/launch_skew.hpp"
#include "workloads/execute/run_cluster.hpp"
#include "workloads/execute/run_estimates.hpp"
#include "workloads/execute/shared_schedules.hpp"
#include "workloads/execute/stream_program.hpp"
#include "workloads/execute/timed_calls.hpp"
#include "workloads/execute/timed_operations.hpp"
#include "workloads/execute/waiting_cycle.hpp"
#include "workloads/program/check_messages.hpp"
#include "workloads/program/communication_kind.hpp"

namespace c3 { inline namespace workloads {
namespace {

/// Everything one run owns, in order of dependence.
class Run {
 public:
  /// \param schedules of another run of the same cluster and classes. \throws UnlikeSchedules
  Run(const Experiment& experiment, const Strategy& strategy, const RunSetup& setup,
      std::shared_ptr<const RankPartition> classes, std::shared_ptr<const FoldedSchedules> schedules = nullptr)
      : experiment_(experiment),
        program_(experiment.program),
        strategy_(strategy),
        setup_(setup),
        simulation_(setup.observer),
        spec_(cluster_spec(experiment, strategy)),
        cluster_(simulation_, spec_,
                 cluster_setup(experiment, strategy, setup.isolation, setup.seed, std::move(classes),
                               std::move(schedules))),
        whole_(spec_.gpu, std::nullopt),
        shares_(kernel_shares(experiment, spec_, strategy, setup.cus)),
        order_(enqueue_order(program_, strategy)),
        contexts_(make_contexts()),
        calls_(
            cluster_, program_, strategy.name,
            [this](const Call& call) {
              return !call.is_timed && contexts_[call.stream].has(OperationFilter::collectives);
            },
            [this](CallId call, const CollectiveCall& of_group) { return plan_of(call, of_group); }),
        messages_(cluster_, program_,
                  [this](std::size_t stream, std::string name, CollectiveCall call) {
                    CollectivePlan plan = plan_on(stream, call);
                    plan.draw = stable_hash(name);
                    plan.name = std::move(name);
                    return plan;
                  }),
        fusions_(experiment, strategy, calls_),
        timed_calls_(cluster_, program_),
        host_copies_(cluster_, program_),
        corrections_(corrections_for(experiment, setup.corrections)) {
    if (experiment.measure.estimate == Estimator::stem)
      replay_.emplace(experiment.measure.estimate_error, program_.streams.size());
    check_messages(program_, cluster_.ranks());
    if (experiment.measure.memory_grain == MemoryGrain::channels) addresses_.emplace(spec_.gpu, program_);
    for (StreamContext& context : contexts_) {
      context.addresses = addresses_ ? &*addresses_ : nullptr;
      context.calls = &calls_;
      context.messages = &messages_;
      context.fusions = &fusions_;
      context.timed_calls = &timed_calls_;
      context.host_copies = &host_copies_;
      context.replay = replay_ ? &*replay_ : nullptr;
      context.corrections = corrections_.get();
    }
    messages_.plan_ahead();
    cluster_.fold_links();
    start_governors(cluster_, setup_.power);
    make_ranks();
  }

  /// By rank, numbers of ranks that their classes, or what they load, tell apart.
  std::vector<std::uint32_t> told_apart() const {
    std::map<std::pair<int, std::uint64_t>, std::uint32_t> numbers;
    std::vector<std::uint32_t> apart;
    const std::vector<std::uint64_t>& traces = cluster_.interconnect().traces_of_ranks();
    for (int rank = 0; rank < cluster_.ranks(); ++rank) {
      const std::pair key(cluster_.stand_in(rank), traces[static_cast<std::size_t>(rank)]);
      apart.push_back(numbers.try_emplace(key, static_cast<std::uint32_t>(numbers.size())).first->second);
    }
    return apart;
  }

  std::shared_ptr<const FoldedSchedules> schedules() const { return cluster_.folded_schedules(); }

  RunResult execute() {
    spawn();
    try {
      simulation_.run();
    } catch (const DeadlockError&) {
      const auto circle = waiting_cycle(program_, strategy_, cluster_.ranks(), &spec_.library);
      if (circle.empty()) throw;  // something else is missing, of which the simulation tells
      throw DeadlockError("deadlock: " + text_of(circle, program_));
    }
    return result();
  }

 private:
  std::vector<StreamContext> make_contexts() {
    std::vector<CuRange> ranges = cu_ranges(experiment_, strategy_, setup_.cus);
    // A private copy of the CUs needs no mask, and an isolated run has the whole GPU.
    if (setup_.isolation.has(SharedResource::cus)) {
      std::ranges::fill(ranges, CuRange{0, experiment_.cluster.gpu.compute.cus_per_xcd});
    }
    std::vector<StreamContext> contexts;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      const auto position = std::ranges::find(order_, i) - order_.begin();
      contexts.push_back({.program = &program_,
                          .measure = &experiment_.measure,
                          .index = static_cast<int>(i),
                          .order = static_cast<int>(position),
                          .policy = policy_of(strategy_, program_.streams[i]),
                          .range = ranges[i],
                          .share = shares_[i] ? &*shares_[i] : &whole_,
                          .filter = filter_of(i)});
    }
    return contexts;
  }

  OperationFilter filter_of(std::size_t stream) const {
    return setup_.only_stream.value_or(stream) == stream ? setup_.filter : OperationFilter::none;
  }

  CollectivePlan plan_of(CallId number, const CollectiveCall& of_group) const {
    const Call& call = program_.calls[number];
    CollectivePlan plan = plan_on(call.stream, of_group);
    plan.name = program_.names[call.name];
    plan.draw = call.draw;
    return plan;
  }

  /// As the strategy has it for the collectives of \p stream.
  CollectivePlan plan_on(std::size_t stream, const CollectiveCall& of_group) const {
    const StreamContext& context = contexts_[stream];
    CollectivePlan plan;
    plan.call = of_group;
    plan.backend = backend_of(of_group, context.policy, experiment_.cluster);
    plan.method = method_of(of_group, context.policy, experiment_.cluster);
    plan.dma = context.policy.dma;
    plan.reduction = context.policy.reduction;
    plan.grain = experiment_.measure.collective_grain;
    plan.stream = context.index;
    plan.priority = context.policy.priority;
    plan.order = context.order;
    plan.range = context.range;
    return plan;
  }

  /// Of what runs by itself nobody is late: the reference is what it takes.
  Seconds lateness(int rank) const { return is_isolated() ? Seconds{} : cluster_.condition(rank).late; }

  void make_ranks() {
    launches_ = launch_dates(cluster_, is_isolated());
    for (int place = 0; place < cluster_.simulated_ranks(); ++place) {
      const int rank = cluster_.simulated_rank(place);
      const Seconds its = launches_[static_cast<std::size_t>(rank)];
      EventTable& events = events_.emplace_back(simulation_, program_, program_.script_of(rank), rank);
      HostThreads* const host = make_host(events, rank, its);
      for (const StreamContext& context : contexts_)
        programs_.emplace_back(cluster_, context, events, host, rank, lateness(rank), its);
    }
  }

  HostThreads* make_host(EventTable& events, int rank, Seconds start) {
    const Script& script = program_.script_of(rank);
    if (!script.host) return hosts_.emplace_back(nullptr).get();
    const HostOrder order = strategy_.serial ? HostOrder::one_by_one : HostOrder::by_queue;
    const ClusterSetup& cluster = cluster_.setup();
    const int hosts = cluster.folded ? cluster_.ranks() : cluster.classes ? cluster.classes->alike(rank) : 0;
    hosts_.push_back(std::make_unique<HostThreads>(
        simulation_, program_, script, order, events, rank, start,
        lateness_of_threads(*script.host, hosts, cluster.gpu.seed, rank), setup_.launches));
    return hosts_.back().get();
  }

  /// Of a place among the simulated ranks.
  StreamProgram& program(int place, std::size_t stream) {
    return programs_[static_cast<std::size_t>(place) * contexts_.size() + stream];
  }

  void spawn() {
    for (int place = 0; place < cluster_.simulated_ranks(); ++place) {
      HostThreads* const host = hosts_[static_cast<std::size_t>(place)].get();
      Event* first = nullptr;
      for (const std::size_t stream : order_) {
        StreamProgram& next = program(place, stream);
        simulation_.spawn(next.name(), next.run(first));
        if (strategy_.serial && host == nullptr) first = &next.ended();
      }
      host == nullptr ? tell_launches(place) : host->spawn();
    }
  }

  /// Of a place among the simulated ranks, whose rank has no host.
  void tell_launches(int place) {
    if (setup_.launches == nullptr) return;
    const int rank = cluster_.simulated_rank(place);
    const Seconds at = launches_[static_cast<std::size_t>(rank)];
    for (const std::size_t stream : order_) {
      for (std::size_t i = 0; i < program(place, stream).operations().size(); ++i)
        setup_.launches->launched({.rank = rank, .place = {stream, i}, .thread = stream, .came = at, .at = at});
    }
  }

  RunResult result() {
    RunResult result;
    result.flows = simulation_.fluid().completed_flows();
    result.streams.resize(contexts_.size());
    for (std::size_t i = 0; i < programs_.size(); ++i) {
      for (const SideSpan& span : {programs_[i].kernels(), programs_[i].collectives()})
        result.streams[i % contexts_.size()].widen(span);
      result.kernels.widen(programs_[i].kernels());
      result.collectives.widen(programs_[i].collectives());
    }
    result.time = std::max(result.kernels.end, result.collectives.end) + host_join(result.streams);
    if (strategy_.hbm_arbitration)
      result.notes.push_back(fmt::format("HBM arbitration {}", name_of(*strategy_.hbm_arbitration)));
    std::ranges::copy(notes_of(shares_, program_.streams), std::back_inserter(result.notes));
    std::ranges::copy(calls_.notes(), std::back_inserter(result.notes));
    for (int place = 0; place < cluster_.simulated_ranks(); ++place)
      for (std::size_t stream = 0; stream < contexts_.size(); ++stream)
        add_records(result, place, stream);
    for (const std::unique_ptr<HostThreads>& host : hosts_)
      if (host) std::ranges::copy(host->marks(), std::back_inserter(result.marks));
    add_classes(result);
    if (replay_) add_replays(result, replay_->summary(), experiment_.measure.estimate_error);
    if (corrections_) add_corrected_flows(result);
    result.power = board_powers(cluster_, setup_.power, result.classes);
    return result;
  }

  void add_classes(RunResult& result) {
    const ClusterSetup& setup = cluster_.setup();
    std::vector<RankRanges> ranges = partition_of(cluster_.ranks(), setup.folded, setup.classes.get()).ranges();
    for (int place = 0; place < cluster_.simulated_ranks(); ++place)
      result.classes.push_back({.name = class_name(cluster_.simulated_rank(place)),
                                .ranks = std::move(ranges[static_cast<std::size_t>(place)]),
                                .times = step_breakdown(operations_of(place), result.time)});
    if (!setup.classes) return;
    AveragedLoads most;
    for (int place = 0; place < cluster_.simulated_ranks(); ++place)
      most.widen(averaged_loads(place, result.time));
    add_averaged_loads(result, std::max(cluster_.schedules().inequity(), cluster_.interconnect().inequity()),
                       most, cluster_.ranks());
  }

  /// How long copies of a rank take alone is not known: theirs may be all of \p time.
  AveragedLoads averaged_loads(int place, Seconds time) {
    AveragedLoads sum;
    sum.add(host_copies_.inequity(), time);
    for (std::size_t stream = 0; stream < contexts_.size(); ++stream) {
      const StreamProgram& its = program(place, stream);
      for (std::size_t i = 0; i < its.operations().size(); ++i) {
        const SideSpan& span = its.spans()[i];
        if (!span.any) continue;
        if (const CollectiveRun* const run = run_of(its, i, cluster_.simulated_rank(place)))
          sum.add(run->inequity(), span.end - std::clamp(run->last_joined(), span.release, span.end));
      }
    }
    return sum;
  }

  std::string class_name(int rank) const {
    const std::string& name = program_.names[program_.script_of(rank).name];
    const std::string straggler = straggler_name(cluster_.spec(), rank);
    return name.empty() || straggler.empty() ? name + straggler : name + " " + straggler;
  }

  /// Those that ran, of a place among the simulated ranks.
  std::vector<TimedOperation> operations_of(int place) {
    std::vector<TimedOperation> timed;
    for (std::size_t stream = 0; stream < contexts_.size(); ++stream) {
      const std::string& name = program_.streams[stream];
      add_timed(timed, program(place, stream), program_, experiment_.step ? communication_kind(name) : name);
    }
    return timed;
  }

  /// Whether one side or stream runs by itself.
  bool is_isolated() const { return setup_.filter != OperationFilter::all || setup_.only_stream.has_value(); }

  /// A host sees the end of one stream in any case; only of several must it gather the ends.
  Seconds host_join(const std::vector<SideSpan>& streams) const {
    const bool beside = std::ranges::count_if(streams, &SideSpan::any) > 1 && !strategy_.serial;
    return beside && !is_isolated() ? cluster_.spec().gpu.host.join : Seconds{};
  }

  void add_records(RunResult& result, int place, std::size_t stream) {
    const int rank = cluster_.simulated_rank(place);
    const StreamProgram& its = program(place, stream);
    for (std::size_t i = 0; i < its.operations().size(); ++i) {
      const Operation& operation = its.operations()[i];
      const SideSpan& span = its.spans()[i];
      if (!span.any) continue;
      const CollectiveRun* const run = run_of(its, i, rank);
      if (run == nullptr) continue;
      const auto* exchange = std::get_if<Exchange>(&operation.work);
      result.records.push_back(exchange == nullptr
                                   ? record_of(*run, rank, span)
                                   : record_of(program_.name_of(operation), *exchange, *run, rank, span));
    }
  }

  /// The call or first message of operation \p place; nullptr: how it ran is not known.
  const CollectiveRun* run_of(const StreamProgram& stream, std::size_t place, int rank) {
    const Operation& operation = stream.operations()[place];
    if (std::holds_alternative<Exchange>(operation.work)) return stream.exchanges().at(place);
    const auto* join = std::get_if<JoinCall>(&operation.work);
    if (join == nullptr || program_.calls[join->call].is_timed) return nullptr;
    return &*calls_[join->call].of(rank);
  }

  const Experiment& experiment_;
  const Program& program_;
  const Strategy& strategy_;
  const RunSetup& setup_;
  Simulation simulation_;
  const ClusterSpec spec_;
  Cluster cluster_;
  KernelShare whole_;
  std::vector<std::optional<KernelShare>> shares_;  ///< by stream; absent: kernels tuned for the whole GPU
  std::vector<std::size_t> order_;                  ///< streams as enqueued
  std::optional<AddressPlan> addresses_;            ///< at MemoryGrain::channels
  std::vector<StreamContext> contexts_;
  CallRuns calls_;
  MessageRuns messages_;
  Fusions fusions_;
  TimedCalls timed_calls_;
  HostCopies host_copies_;
  std::shared_ptr<FlowCorrections> corrections_;     ///< where KernelGrain::automatic is a flow
  std::optional<KernelReplay> replay_;               ///< with Estimator::stem
  std::vector<Seconds> launches_;                    ///< dates at which ranks begin to launch
  std::deque<EventTable> events_;                    ///< by simulated rank
  std::vector<std::unique_ptr<HostThreads>> hosts_;  ///< by simulated rank; null where a script has no host
  std::deque<StreamProgram> programs_;               ///< by simulated rank, then stream
};

/// By whom ranks meet and, to be exact, by what they load, which depends on the classes that there are.
std::shared_ptr<const RankPartition> classes_for(const Experiment& experiment, const Strategy& strategy) {
  if (folds(experiment, strategy)) return nullptr;
  std::shared_ptr<const RankPartition> classes = classes_of(experiment, strategy);
  if (experiment.measure.fold != Fold::exact) return classes;
  for (int before = 0; classes && classes->classes() != before;) {
    before = classes->classes();
    classes = classes_of(experiment, strategy, Run(experiment, strategy, {}, classes).told_apart());
  }
  return classes;
}

}  // namespace

RankPartition simulated_ranks(const Experiment& experiment, const Strategy& strategy) {
  const auto classes = classes_for(experiment, strategy);
  return partition_of(experiment.cluster.ranks(), folds(experiment, strategy), classes.get());
}

void check_run(const Experiment& experiment, const Strategy& strategy, const RunSetup& setup) {
  const Run made(experiment, strategy, setup, classes_for(experiment, strategy));
}

RunResult run_once(const Experiment& experiment, const Strategy& strategy, const RunSetup& setup) {
  const std::shared_ptr<const RankPartition> classes = classes_for(experiment, strategy);
  SharedSchedules* const shared = setup.observer == nullptr ? setup.schedules.get() : nullptr;
  if (shared == nullptr || !classes || experiment.measure.fold == Fold::exact)
    return Run(experiment, strategy, setup, classes).execute();
  const SharedSchedules::Kind kind{strategy.name, setup.filter, experiment.measure.collective_grain,
                                   setup.only_stream};
  std::unique_ptr<Run> run;
  if (auto schedules = shared->take(kind, experiment.cluster, *classes)) {
    try {
      run = std::make_unique<Run>(experiment, strategy, setup, classes, std::move(schedules));
    } catch (const UnlikeSchedules&) {  // it has other collectives
    }
  }
  if (!run) run = std::make_unique<Run>(experiment, strategy, setup, classes);
  if (auto made = run->schedules()) shared->keep(kind, experiment.cluster, std::move(made));
  return run->execute();
}

}}  // namespace c3::workloads
