#include "workloads/execute/stream_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "gpu/kernel_run.hpp"
#include "gpu/timed_kernel.hpp"

namespace c3 { inline namespace workloads {

StreamProgram::StreamProgram(Cluster& cluster, const StreamContext& context, EventTable& events,
                             HostThreads* host, int rank, Seconds late, Seconds launch)
    : cluster_(cluster),
      simulation_(cluster.simulation()),
      context_(context),
      program_(*context.program),
      operations_(program_.script_of(rank).streams[static_cast<std::size_t>(context.index)]),
      events_(events),
      host_(host),
      company_(context.replay == nullptr ? nullptr : &context.replay->company(rank)),
      rank_(rank),
      late_(late),
      launch_(launch),
      name_(cluster.setup().folded ? fmt::format("stream '{}'", context.name())
                                   : fmt::format("stream '{}' of rank {}", context.name(), rank)),
      spans_(operations_.size()),
      ended_(simulation_, "the end of " + name_) {}

Task StreamProgram::run(Event* first) {
  if (first != nullptr) {
    co_await *first;
    is_first_ = simulation_.now() <= launch_;  // streams that did nothing leave the GPU as idle as it was
  }
  // A rank that begins late is not busy until then.
  if (simulation_.now() < late_) co_await simulation_.sleep(late_ - simulation_.now());
  for (std::size_t i = 0; i < operations_.size(); ++i)
    co_await take_turn(i);
  ended_.set();
}

// An operation that is left out still takes its place in the host's order.
Task StreamProgram::take_turn(std::size_t index) {
  const auto stream = static_cast<std::size_t>(context_.index);
  if (host_ != nullptr) {
    co_await host_->turn(stream, index);
    if (!is_wait(index)) host_->started(stream);
  }
  begin_range(index);
  co_await run_operation(index);
  end_range(index);
  if (host_ == nullptr) co_return;
  if (is_wait(index)) host_->started(stream);
  host_->ended(stream);
}

bool StreamProgram::is_wait(std::size_t index) const {
  return std::holds_alternative<WaitEvent>(operations_[index].work);
}

Seconds StreamProgram::recorded_delay(std::size_t index) const {
  const RecordedLags& lags = *operations_[index].recorded;
  const Seconds launched =
      host_ == nullptr ? launch_ : host_->launched(static_cast<std::size_t>(context_.index), index);
  Seconds begin = std::max(launched + lags.after_launch, awaited_);
  if (end_) begin = std::max(begin, *end_ + lags.after_stream);
  return std::max(Seconds{}, begin - simulation_.now());
}

// A profiler's time of a kernel contains its launch on the device. Collectives have theirs in the model of
// their library, and timed work in its time.
Seconds StreamProgram::start_on_device(std::size_t index) const {
  return kernel_of(operations_[index]) == nullptr ? Seconds{} : cluster_.spec().gpu.dispatch.launch_latency;
}

// Launched early it waits for the gap after what it depends on, before it on the stream or on another; late,
// for its launch.
Seconds StreamProgram::launch_delay(std::size_t index) const {
  const DispatchSpec& dispatch = cluster_.spec().gpu.dispatch;
  const Seconds now = simulation_.now();
  if (host_ == nullptr)
    return std::max(Seconds{}, launch_ - now) + (is_first_ ? dispatch.launch_latency : dispatch.dependent_gap);
  const Seconds launched =
      host_->launched(static_cast<std::size_t>(context_.index), index) + dispatch.launch_latency;
  const Seconds begin = free_ ? std::max(launched, *free_ + dispatch.dependent_gap) : launched;
  return std::max(Seconds{}, begin - now);
}

bool StreamProgram::takes_time(std::size_t index) const {
  const Operation& operation = operations_[index];
  if (computes(operation)) return context_.has(OperationFilter::kernels);
  return communicates(operation) && context_.has(OperationFilter::collectives);
}

void StreamProgram::begin_range(std::size_t index) {
  const std::string& name = program_.range_of(operations_[index]);
  if (open_range_ != kNoActivity || name.empty() || !simulation_.is_observed() || !takes_time(index)) return;
  open_range_ = simulation_.begin_activity(
      {.name = name, .kind = ActivityKind::range, .gpu = rank_, .stream = context_.index});
}

void StreamProgram::end_range(std::size_t index) {
  if (open_range_ == kNoActivity || !takes_time(index)) return;
  std::size_t next = index + 1;
  while (next < operations_.size() && !takes_time(next))
    ++next;
  if (next < operations_.size() && operations_[next].range == operations_[index].range) return;
  simulation_.end_activity(std::exchange(open_range_, kNoActivity));
}

Task StreamProgram::run_operation(std::size_t index) {
  const auto& work = operations_[index].work;
  if ((computes(operations_[index]) || communicates(operations_[index])) && !takes_time(index)) co_return;
  const bool is_recorded = operations_[index].recorded.has_value();  // from its start, not from its launch
  const Seconds delay = is_recorded ? start_on_device(index) : launch_delay(index);
  if (is_recorded) co_await simulation_.sleep(recorded_delay(index));
  Seconds release = simulation_.now();
  if (context_.addresses != nullptr && !std::holds_alternative<JoinCall>(work)) place(index);
  if (const Operator* op = kernel_of(operations_[index])) {
    co_await run_operator(*op, index, delay);
    note(index, kernels_, release);
  } else if (const auto* timed = std::get_if<TimedKernel>(&work)) {
    if (company_ != nullptr)
      company_->begin_timed(static_cast<std::size_t>(context_.index), operations_[index].name);
    co_await run_timed(*timed, index, delay);
    note(index, kernels_, release);
  } else if (const auto* call = std::get_if<JoinCall>(&work)) {
    // Awaited here and not in a task of its own, which would begin it after kernels of the same date.
    ActivityId activity = kNoActivity;
    const ActivityId before = previous_;
    if (program_.calls[call->call].is_timed) {
      const Seconds lasts = operations_[index].recorded.value().lasts;
      co_await context_.timed_calls->join(call->call, rank_, context_.index, lasts, &activity, open_range_);
      note_arrival(index, release, simulation_.now() - lasts);
    } else {
      CollectiveRun& collective = *(*context_.calls)[call->call].of(rank_);
      if (context_.addresses != nullptr) place(index, collective.width());
      if (company_ != nullptr) company_->begin_collective(static_cast<std::size_t>(context_.index), collective);
      co_await collective.join(rank_, delay, &activity, open_range_);
      note_arrival(index, release, collective.last_joined() - delay);
      release = collective.began(rank_).value_or(release);
    }
    simulation_.add_dependency(activity, before, DependencyKind::stream_order);
    previous_ = activity;
    note(index, collectives_, release);
  } else if (std::holds_alternative<Exchange>(work)) {
    co_await exchange(index, release, delay);
  } else if (const auto* host_copy = std::get_if<HostCopy>(&work)) {
    co_await copy(*host_copy, index, delay);
    note(index, collectives_, release);
  } else if (const auto* record = std::get_if<RecordEvent>(&work)) {
    events_.record(record->event, simulation_.now(), previous_);
  } else {
    co_await wait_for(std::get<WaitEvent>(work));
  }
}

// A single message is awaited here, so that a deadlock's report says for whom.
Task StreamProgram::exchange(std::size_t index, Seconds release, Seconds delay) {
  const auto& what = std::get<Exchange>(operations_[index].work);
  const auto stream = static_cast<std::size_t>(context_.index);
  const ActivityId before = previous_;
  std::vector<CollectiveRun*> runs;
  for (const Message& message : what.messages)
    runs.push_back(&context_.messages->next(what.communicator, rank_, message, stream));
  std::vector<ActivityId> activities(runs.size(), kNoActivity);
  std::deque<Event> ended;
  for (std::size_t i = 1; i < runs.size(); ++i) {
    Event& its = ended.emplace_back(simulation_, "another message of its exchange");
    simulation_.spawn(name_, runs[i]->join(rank_, delay, &activities[i], open_range_), &its);
  }
  if (company_ != nullptr) company_->begin_collective(stream, *runs.front());
  co_await runs.front()->join(rank_, delay, activities.data(), open_range_);
  for (Event& its : ended)
    co_await its;
  for (const ActivityId activity : activities)
    simulation_.add_dependency(activity, before, DependencyKind::stream_order);
  previous_ = activities.back();
  exchanges_.emplace(index, runs.front());
  Seconds last = release;
  for (const CollectiveRun* run : runs)
    last = std::max(last, run->last_joined() - delay);
  note_arrival(index, release, last);
  note(index, collectives_, release);
}

void StreamProgram::place(std::size_t index, int width) {
  places_ = context_.addresses->shares_of(operations_[index], std::max(1, width));
  cluster_.gpu(rank_).memory().place(context_.index, places_.empty() ? nullptr : places_.data());
}

KernelLaunch StreamProgram::launch_of(std::size_t index, Seconds delay) const {
  KernelLaunch launch;
  launch.stream = context_.index;
  launch.priority = context_.policy.priority;
  launch.order = context_.order;
  launch.range = context_.range;
  launch.delay = delay;
  launch.draw = operations_[index].draw;
  launch.parent = open_range_;
  launch.places = places_;
  return launch;
}

Task StreamProgram::run_timed(TimedKernel kernel, std::size_t index, Seconds delay) {
  ActivityId activity = kNoActivity;
  KernelLaunch launch = launch_of(index, delay);
  launch.activity = &activity;
  const ActivityId before = previous_;
  std::string name = program_.name_of(operations_[index]);
  co_await run_timed_kernel(cluster_.gpu(rank_), std::move(name), kernel, launch);
  simulation_.add_dependency(activity, before, DependencyKind::stream_order);
  previous_ = activity;
}

Task StreamProgram::copy(HostCopy copy, std::size_t index, Seconds delay) {
  ActivityId activity = kNoActivity;
  const ActivityId before = previous_;
  std::string name = program_.name_of(operations_[index]);
  HostCopies::Launch launch;
  launch.rank = rank_;
  launch.stream = context_.index;
  launch.name = std::move(name);
  launch.delay = delay;
  launch.parent = open_range_;
  launch.activity = &activity;
  co_await context_.host_copies->run(copy, std::move(launch));
  simulation_.add_dependency(activity, before, DependencyKind::stream_order);
  previous_ = activity;
}

Task StreamProgram::run_operator(Operator op, std::size_t index, Seconds delay) {
  const auto stream = static_cast<std::size_t>(context_.index);
  const std::string& name = program_.name_of(operations_[index]);
  KernelDescription kernel = context_.share->describe(operations_[index].name, name, op);
  ActivityId activity = kNoActivity;
  KernelLaunch launch = launch_of(index, delay);
  launch.grain = grain_of(*context_.measure, op);
  launch.activity = &activity;
  const OperationPlace place{stream, index};
  if (FusedCollective* const fused = context_.fusions->of(program_.script_number(rank_), place, rank_)) {
    kernel = fused->launch(rank_, std::move(kernel));
    launch.sink = fused;
  }
  if (context_.corrections != nullptr && launch.sink == nullptr && launch.grain == KernelGrain::automatic) {
    launch.grain = KernelGrain::fluid;
    launch.correction = correction_of(op, index, kernel);
  }
  std::optional<SampledKernel> sampled;
  if (company_ != nullptr) {
    const std::size_t number = context_.replay->number_of(operations_[index].name, op);
    company_->begin_kernel(stream, number);
    if (launch.grain != KernelGrain::fluid && launch.sink == nullptr)
      launch.times = &sampled.emplace(*context_.replay, rank_, stream, operations_[index], number);
  }
  const ActivityId before = previous_;
  co_await run_kernel(cluster_.gpu(rank_), std::move(kernel), launch);
  simulation_.add_dependency(activity, before, DependencyKind::stream_order);
  previous_ = activity;
}

double StreamProgram::correction_of(const Operator& op, std::size_t index,
                                    const KernelDescription& kernel) const {
  const GpuSpec& gpu = cluster_.spec().gpu;
  return context_.corrections->of(gpu, {gpu.hbm.arbitration, context_.range, context_.share->slice()},
                                  operations_[index].name, op, kernel);
}

Task StreamProgram::wait_for(WaitEvent wait) {
  EventTable::Entry& entry = events_.entry(wait.event);
  const ActivityId activity =
      simulation_.begin_activity({.name = program_.names[program_.script_of(rank_).events[wait.event]],
                                  .kind = ActivityKind::wait,
                                  .gpu = rank_,
                                  .stream = context_.index,
                                  .parent = open_range_});
  simulation_.add_dependency(activity, previous_, DependencyKind::stream_order);
  if (!entry.event->is_set()) {
    co_await *entry.event;
    free_ = simulation_.now();
  }
  awaited_ = std::max(awaited_, entry.date + wait.lag);
  simulation_.add_dependency(activity, entry.recorded_after, DependencyKind::event);
  simulation_.end_activity(activity);
  if (activity != kNoActivity) previous_ = activity;
}

void StreamProgram::note_arrival(std::size_t index, Seconds release, Seconds last) {
  constexpr Seconds kAtOnce{1e-12};
  if (last > release + kAtOnce) last_arrivals_.emplace(index, last);
}

void StreamProgram::note(std::size_t index, SideSpan& side, Seconds release) {
  is_first_ = false;
  if (company_ != nullptr) company_->end(static_cast<std::size_t>(context_.index));
  const Seconds end = simulation_.now();
  free_ = end;
  end_ = end;
  awaited_ = {};
  spans_[index] = {release, end, true};
  side.release = side.any ? std::min(side.release, release) : release;
  side.end = std::max(side.end, end);
  side.any = true;
}

}}  // namespace c3::workloads
