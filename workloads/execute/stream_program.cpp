#include "workloads/execute/stream_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "gpu/kernel_run.hpp"
#include "gpu/kernels/describe.hpp"

namespace c3::inline workloads {

StreamProgram::StreamProgram(Cluster& cluster, const StreamContext& context, EventTable& events,
                             HostThread* host, int rank, Seconds launch)
    : cluster_(cluster),
      simulation_(cluster.simulation()),
      context_(context),
      events_(events),
      host_(host),
      rank_(rank),
      launch_(launch),
      name_(cluster.setup().folded ? fmt::format("stream '{}'", context.stream->name)
                                   : fmt::format("stream '{}' of rank {}", context.stream->name, rank)),
      operations_(context.stream->operations.size()),
      ended_(simulation_, "the end of " + name_) {}

Task StreamProgram::run(Event* first) {
  if (first != nullptr) {
    co_await *first;
    is_first_ = false;
  }
  for (std::size_t i = 0; i < context_.stream->operations.size(); ++i)
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
  if (runs(index)) {
    begin_range(index);
    co_await run_operation(index);
    end_range(index);
  }
  if (host_ == nullptr) co_return;
  if (is_wait(index)) host_->started(stream);
  host_->ended(stream);
}

bool StreamProgram::is_wait(std::size_t index) const {
  return std::holds_alternative<WaitEvent>(context_.stream->operations[index].work);
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

bool StreamProgram::runs(std::size_t index) const {
  const std::vector<int>& on = context_.stream->operations[index].on;
  if (!on.empty() && std::ranges::find(on, rank_) == on.end()) return false;
  const GroupRuns& collective = context_.collectives[index];
  return collective.is_empty() || collective.of(rank_) != nullptr;
}

bool StreamProgram::takes_time(std::size_t index) const {
  const Operation& operation = context_.stream->operations[index];
  if (kernel_of(operation) != nullptr) return context_.has(OperationFilter::kernels) && runs(index);
  const bool is_collective = std::holds_alternative<CollectiveCall>(operation.work);
  return is_collective && context_.has(OperationFilter::collectives) && runs(index);
}

void StreamProgram::begin_range(std::size_t index) {
  const std::string& name = context_.stream->operations[index].range;
  if (open_range_ != kNoActivity || name.empty() || !simulation_.is_observed() || !takes_time(index)) return;
  open_range_ = simulation_.begin_activity(
      {.name = name, .kind = ActivityKind::range, .gpu = rank_, .stream = context_.index});
}

void StreamProgram::end_range(std::size_t index) {
  if (open_range_ == kNoActivity || !takes_time(index)) return;
  const std::vector<Operation>& operations = context_.stream->operations;
  std::size_t next = index + 1;
  while (next < operations.size() && !takes_time(next))
    ++next;
  if (next < operations.size() && operations[next].range == operations[index].range) return;
  simulation_.end_activity(std::exchange(open_range_, kNoActivity));
}

FusedCollective* StreamProgram::fused_with(std::size_t index) const {
  const GroupRuns* const fused = context_.fused[index];
  return fused == nullptr ? nullptr : dynamic_cast<FusedCollective*>(fused->of(rank_));
}

Task StreamProgram::run_operation(std::size_t index) {
  const auto& work = context_.stream->operations[index].work;
  const Seconds release = simulation_.now();
  const Seconds delay = launch_delay(index);
  if (const Operator* op = kernel_of(context_.stream->operations[index])) {
    if (!context_.has(OperationFilter::kernels)) co_return;
    co_await run_operator(*op, index, delay);
    note(index, kernels_, release);
  } else if (std::holds_alternative<CollectiveCall>(work)) {
    if (!context_.has(OperationFilter::collectives)) co_return;
    ActivityId activity = kNoActivity;
    const ActivityId before = previous_;
    CollectiveRun& collective = *context_.collectives[index].of(rank_);
    co_await collective.join(rank_, delay, &activity, open_range_);
    simulation_.add_dependency(activity, before, DependencyKind::stream_order);
    previous_ = activity;
    note(index, collectives_, collective.began(rank_).value_or(release));
  } else if (const auto* record = std::get_if<RecordEvent>(&work)) {
    EventTable::Entry& entry = events_.entry(record->event);
    entry.recorded_after = previous_;
    entry.event->set();
  } else {
    co_await wait_for(std::get<WaitEvent>(work));
  }
}

Task StreamProgram::run_operator(Operator op, std::size_t index, Seconds delay) {
  KernelDescription kernel = describe(context_.stream->operations[index].name, op, cluster_.spec().gpu);
  ActivityId activity = kNoActivity;
  KernelLaunch launch;
  launch.stream = context_.index;
  launch.priority = context_.policy.priority;
  launch.order = context_.order;
  launch.range = context_.range;
  launch.grain = grain_of(context_.experiment->measure, op);
  launch.delay = delay;
  launch.draw = context_.draws[index];
  launch.parent = open_range_;
  launch.activity = &activity;
  if (FusedCollective* const fused = fused_with(index)) {
    kernel = fused->launch(rank_, std::move(kernel));
    launch.sink = fused;
  }
  const ActivityId before = previous_;
  co_await run_kernel(cluster_.gpu(rank_), std::move(kernel), launch);
  simulation_.add_dependency(activity, before, DependencyKind::stream_order);
  previous_ = activity;
}

Task StreamProgram::wait_for(const WaitEvent& wait) {
  EventTable::Entry& entry = events_.entry(wait.event);
  const ActivityId activity = simulation_.begin_activity({.name = wait.event,
                                                          .kind = ActivityKind::wait,
                                                          .gpu = rank_,
                                                          .stream = context_.index,
                                                          .parent = open_range_});
  simulation_.add_dependency(activity, previous_, DependencyKind::stream_order);
  if (!entry.event->is_set()) {
    co_await *entry.event;
    free_ = simulation_.now();
  }
  simulation_.add_dependency(activity, entry.recorded_after, DependencyKind::event);
  simulation_.end_activity(activity);
  if (activity != kNoActivity) previous_ = activity;
}

void StreamProgram::note(std::size_t index, SideSpan& side, Seconds release) {
  is_first_ = false;
  const Seconds end = simulation_.now();
  free_ = end;
  operations_[index] = {release, end, true};
  side.release = side.any ? std::min(side.release, release) : release;
  side.end = std::max(side.end, end);
  side.any = true;
}

}  // namespace c3::workloads
