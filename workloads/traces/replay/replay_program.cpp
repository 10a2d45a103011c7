#include "workloads/traces/replay/replay_program.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "engine/errors.hpp"
#include "workloads/program/program_builder.hpp"

namespace c3::inline traces {
namespace {

Seconds seconds(Picoseconds time) { return Seconds{static_cast<double>(time.count) * 1e-12}; }

/// A wait that took less than nothing, by two clocks, took nothing.
Seconds lag_of(Picoseconds lag) { return seconds(std::max(lag, Picoseconds{})); }

/// Writes the script of one rank.
class ScriptWriter {
 public:
  ScriptWriter(const RecordedRun& run, const RecordedRank& rank, const ReplayChoice& choice, Program& program)
      : run_(run),
        rank_(rank),
        choice_(choice),
        program_(program),
        incoming_(rank.work.size()),
        event_of_work_(rank.work.size(), kNoIndex),
        event_of_point_(rank.points.size(), kNoIndex),
        launches_(rank.points.size()),
        waits_(rank.points.size()) {}

  Script write() {
    for (const std::string& name : run_.streams)
      draw_streams_.push_back(name);
    script_.streams.resize(run_.streams.size());
    for (const RecordedEdge& edge : rank_.edges) {
      incoming_[edge.destination].push_back(&edge);
      need(event_of_work_[edge.source], rank_.work[edge.source].name);
    }
    for (const PointWait& wait : rank_.waits) {
      waits_[wait.point].push_back(&wait);
      if (wait.for_work) {
        need(event_of_work_[wait.source], rank_.work[wait.source].name);
      } else {
        need(event_of_point_[wait.source], rank_.threads[rank_.points[wait.source].thread]);
      }
    }
    for (std::uint32_t i = 0; i < rank_.work.size(); ++i)
      add_work(i);
    add_host();
    return std::move(script_);
  }

 private:
  /// Gives \p event a number, unless it has one.
  void need(std::uint32_t& event, NameId name) {
    if (event != kNoIndex) return;
    event = static_cast<EventId>(script_.events.size());
    script_.events.push_back(name);
  }

  void add(const RecordedWork& work, Operation operation) {
    std::vector<Operation>& stream = script_.streams[work.stream];
    launches_[work.launch].push_back({work.stream, stream.size()});
    stream.push_back(std::move(operation));
  }

  void add_work(std::uint32_t row) {
    const RecordedWork& work = rank_.work[row];
    for (const RecordedEdge* edge : incoming_[row]) {
      const EventId event = event_of_work_[edge->source];
      add(work, {.work = WaitEvent{event, lag_of(edge->lag)}, .name = script_.events[event]});
    }
    Operation operation{.work = RecordEvent{}, .name = work.name};
    const bool is_modelled = choice_.of(work) == TimedBy::model;
    if (!is_modelled || !run_.starts_at_release)
      operation.recorded = RecordedLags{lag_of(work.after_launch), lag_of(work.after_stream)};
    operation.draw = draws_.next(draw_streams_[work.stream], run_.text(work.name));
    if (work.collective == kNoIndex) {
      operation.work = kernel_for(work);
    } else {
      operation.work = JoinCall{work.collective};
      if (operation.recorded) operation.recorded->lasts = seconds(work.duration);
      Call& call = program_.calls[work.collective];
      call.stream = work.stream;
      call.draw = operation.draw;
    }
    add(work, std::move(operation));
    const std::uint32_t event = event_of_work_[row];
    if (event != kNoIndex) add(work, {.work = RecordEvent{event}, .name = script_.events[event]});
  }

  decltype(Operation::work) kernel_for(const RecordedWork& work) const {
    const TimedBy by = choice_.of(work);
    if (by == TimedBy::model) return *run_.operators[work.op].op;
    const Seconds duration = by == TimedBy::another ? Seconds{} : seconds(work.duration);
    return TimedKernel{.duration = duration, .timing = Timing::in_situ};
  }

  void add_host() {
    HostProgram& host = script_.host.emplace();
    host.launch_queue = kEndless;
    for (const TextRow name : rank_.threads)
      host.threads.push_back({.name = name});
    for (std::uint32_t i = 0; i < rank_.points.size(); ++i)
      add_point(host.threads[rank_.points[i].thread].steps, i);
  }

  void add_point(std::vector<HostStep>& steps, std::uint32_t row) const {
    steps.push_back({.cost = lag_of(rank_.points[row].cost)});
    for (const PointWait* wait : waits_[row]) {
      const EventId event = wait->for_work ? event_of_work_[wait->source] : event_of_point_[wait->source];
      steps.push_back({.waits_for = event, .lag = lag_of(wait->lag)});
    }
    for (const OperationPlace& place : launches_[row]) {
      if (steps.back().launches) steps.emplace_back();
      steps.back().launches = place;
    }
    if (event_of_point_[row] != kNoIndex) steps.back().records = event_of_point_[row];
    for (const StepSpan& step : rank_.steps) {
      if (step.begin != row && step.end != row) continue;
      if (steps.back().mark != 0) steps.emplace_back();
      steps.back().mark = step.name;
    }
  }

  /// Where the host waited for a place in its queue, the trace has a wait for the work before.
  static constexpr int kEndless = 1 << 30;

  const RecordedRun& run_;
  const RecordedRank& rank_;
  const ReplayChoice& choice_;
  Program& program_;
  std::vector<std::vector<const RecordedEdge*>> incoming_;  ///< by work
  std::vector<std::uint32_t> event_of_work_, event_of_point_;
  std::vector<std::vector<OperationPlace>> launches_;  ///< by point
  std::vector<std::vector<const PointWait*>> waits_;   ///< by point
  std::vector<std::string> draw_streams_;
  DrawKeys draws_;
  Script script_;
};

/// A barrier where it is not known: nothing but its members matters then, as it is timed. All ranks of the
/// cluster are not listed, so that one may stand for them.
CollectiveCall call_of(const RecordedRun& run, const RecordedCollective& collective, int ranks) {
  CollectiveCall call{.kind = CollectiveKind::barrier,
                      .ranks = {collective.members.begin(), collective.members.end()}};
  if (const std::optional<CollectiveCall> specified = specified_call(run, collective)) call = *specified;
  if (std::ssize(call.ranks) == ranks && std::ranges::is_sorted(call.ranks)) call.ranks.clear();
  return call;
}

}  // namespace

Program replay_program(const RecordedRun& run, int ranks, const ReplayModel& model) {
  const ReplayChoice choice(run, model);
  Program program;
  program.names = run.names;
  program.streams = run.streams;
  program.scripts.clear();
  for (const RecordedCollective& collective : run.collectives)
    program.calls.push_back({.what = call_of(run, collective, ranks),
                             .name = collective.name,
                             .is_timed = !choice.is_modelled(collective)});
  const bool stands_for_all = run.ranks.size() == 1;
  int next = 0;  // the first rank that no script is of yet
  const auto idle_until = [&](int end) {
    if (next == end) return;
    program.ranks.push_back({next, end, static_cast<std::uint32_t>(program.scripts.size())});
    program.scripts.emplace_back().streams.resize(run.streams.size());
  };
  for (const RecordedRank& rank : run.ranks) {
    if (!stands_for_all && rank.number >= ranks)
      throw InfeasibleError(
          fmt::format("the trace has rank {}, the system only ranks 0 to {}", rank.number, ranks - 1));
    if (!stands_for_all) idle_until(rank.number);
    Script script = ScriptWriter(run, rank, choice, program).write();
    const bool is_new = program.scripts.empty() || program.scripts.back() != script;
    if (is_new) program.scripts.push_back(std::move(script));
    if (!stands_for_all && is_new)
      program.ranks.push_back(
          {rank.number, rank.number, static_cast<std::uint32_t>(program.scripts.size() - 1)});
    if (!stands_for_all) program.ranks.back().end = rank.number + 1;
    next = rank.number + 1;
  }
  if (!stands_for_all) idle_until(ranks);
  return program;
}

}  // namespace c3::traces
