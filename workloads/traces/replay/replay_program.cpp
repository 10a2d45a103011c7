#include "workloads/traces/replay/replay_program.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "workloads/program/program_builder.hpp"

namespace c3 { inline namespace traces {
namespace {

Seconds seconds(Picoseconds time) { return Seconds{static_cast<double>(time.count) * 1e-12}; }

/// A wait that took less than nothing, by two clocks, took nothing.
Seconds lag_of(Picoseconds lag) { return seconds(std::max(lag, Picoseconds{})); }

/// The call of each row of RecordedRun::collectives; kNoIndex for one whose members are not known.
using CallRows = std::vector<std::uint32_t>;

/// Calls of which each rank is the only member that is known.
using NameAndStream = std::pair<TextRow, std::uint32_t>;
using AloneCalls = std::map<NameAndStream, CallRows>;

/// Writes the script of one rank.
class ScriptWriter {
 public:
  ScriptWriter(const RecordedRun& run, const RecordedRank& rank, const ReplayChoice& choice,
               const CallRows& calls, AloneCalls& alone_calls, Program& program)
      : run_(run),
        rank_(rank),
        choice_(choice),
        calls_(calls),
        alone_calls_(alone_calls),
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
    // Draws go by class, not by name: names can be obfuscated.
    operation.draw = draws_.next(draw_streams_[work.stream], std::string(name_of(work.work_class)));
    const std::uint32_t joined = call_of(work);
    if (joined == kNoIndex) {
      operation.work = kernel_for(work);
    } else {
      operation.work = JoinCall{joined};
      if (operation.recorded) operation.recorded->lasts = seconds(work.duration);
      Call& call = program_.calls[joined];
      call.stream = work.stream;
      call.draw = operation.draw;
    }
    add(work, std::move(operation));
    const std::uint32_t event = event_of_work_[row];
    if (event != kNoIndex) add(work, {.work = RecordEvent{event}, .name = script_.events[event]});
  }

  /// The call that \p work joins. A collective whose other members are not known has a call of its rank alone:
  /// it communicates for as long as it did. kNoIndex: it is no collective.
  std::uint32_t call_of(const RecordedWork& work) {
    if (work.collective != kNoIndex && calls_[work.collective] != kNoIndex) return calls_[work.collective];
    if (work.work_class != WorkClass::collective) return kNoIndex;
    // The n-th of a name and stream is one call of all ranks, so that those which do the same have one script.
    CallRows& alike = alone_calls_[{work.name, work.stream}];
    const std::size_t joined = alone_[{work.name, work.stream}]++;
    if (joined == alike.size()) {
      alike.push_back(static_cast<std::uint32_t>(program_.calls.size()));
      CollectiveCall what{.kind = CollectiveKind::barrier};
      what.groups = RankGroups{.size = 1};
      program_.calls.push_back({.what = std::move(what), .name = work.name, .is_timed = true});
    }
    return alike[joined];
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

  /// The queue has no limit: where the host waited for a place in it, the trace has a wait for the work before.
  static constexpr int kEndless = 1 << 30;

  const RecordedRun& run_;
  const RecordedRank& rank_;
  const ReplayChoice& choice_;
  const CallRows& calls_;
  AloneCalls& alone_calls_;
  std::map<NameAndStream, std::size_t> alone_;  ///< how many of those this rank has joined
  Program& program_;
  std::vector<std::vector<const RecordedEdge*>> incoming_;  ///< by work
  std::vector<std::uint32_t> event_of_work_, event_of_point_;
  std::vector<std::vector<OperationPlace>> launches_;  ///< by point
  std::vector<std::vector<const PointWait*>> waits_;   ///< by point
  std::vector<std::string> draw_streams_;
  DrawKeys draws_;
  Script script_;
};

/// A barrier where it is not known: nothing but its members matters then, as it is timed. Where a rank that was
/// recorded alone stands for all, they do the same and come together: all of them are the members, and nothing
/// is a call where there is one. All ranks of the cluster are not listed, so that one may stand for them.
std::optional<CollectiveCall> call_of(const RecordedRun& run, const RecordedCollective& collective, int ranks) {
  std::optional<CollectiveCall> call = specified_call(run, collective, ranks);
  if (!call && run.is_of_one_rank()) {
    if (ranks < 2) return std::nullopt;
    return CollectiveCall{.kind = CollectiveKind::barrier};
  }
  if (!call)
    call = {.kind = CollectiveKind::barrier, .ranks = {collective.members.begin(), collective.members.end()}};
  if (std::ssize(call->ranks) == ranks && std::ranges::is_sorted(call->ranks)) call->ranks.clear();
  return call;
}

CallRows add_calls(const RecordedRun& run, int ranks, const ReplayChoice& choice, Program& program) {
  CallRows rows;
  for (const RecordedCollective& collective : run.collectives) {
    std::optional<CollectiveCall> call = call_of(run, collective, ranks);
    rows.push_back(call ? static_cast<std::uint32_t>(program.calls.size()) : kNoIndex);
    if (!call) continue;
    program.calls.push_back(
        {.what = *std::move(call), .name = collective.name, .is_timed = !choice.is_modelled(collective)});
  }
  return rows;
}

/// Gives every rank its script; neighbours that run the same one are together.
void set_ranks(Program& program, const RankRoles& roles, const std::vector<std::uint32_t>& script_of_row) {
  std::uint32_t idle = kNoIndex;
  for (int rank = 0; rank < std::ssize(roles); ++rank) {
    const std::uint32_t row = roles[static_cast<std::size_t>(rank)];
    if (row == kNoIndex && idle == kNoIndex) {
      idle = static_cast<std::uint32_t>(program.scripts.size());
      program.scripts.emplace_back().streams.resize(program.streams.size());
    }
    const std::uint32_t script = row == kNoIndex ? idle : script_of_row[row];
    if (program.ranks.empty() || program.ranks.back().script != script)
      program.ranks.push_back({rank, rank, script});
    program.ranks.back().end = rank + 1;
  }
  if (program.scripts.size() == 1) program.ranks.clear();
}

/// Names classes of ranks that do different things after the first rank that was recorded.
void name_scripts(Program& program, const RecordedRun& run, const std::vector<std::uint32_t>& script_of_row) {
  if (program.scripts.size() == 1) return;
  for (std::size_t row = 0; row < script_of_row.size(); ++row) {
    Script& script = program.scripts[script_of_row[row]];
    if (script.name != 0) continue;
    script.name = static_cast<NameId>(program.names.size());
    program.names.push_back(fmt::format("rank{}", run.ranks[row].number));
  }
}

}  // namespace

Program replay_program(const RecordedRun& run, int ranks, const ReplayModel& model) {
  return replay_program(run, recorded_roles(run, ranks), model);
}

Program replay_program(const RecordedRun& run, const RankRoles& roles, const ReplayModel& model) {
  const int ranks = static_cast<int>(roles.size());
  const ReplayModel here{model.classes, model.gpu, ranks};
  const ReplayChoice choice(run, here);
  Program program;
  program.names = run.names;
  program.streams = run.streams;
  program.scripts.clear();
  const CallRows calls = add_calls(run, ranks, choice, program);
  AloneCalls alone_calls;
  std::vector<std::uint32_t> script_of_row;
  for (const RecordedRank& rank : run.ranks) {
    Script script = ScriptWriter(run, rank, choice, calls, alone_calls, program).write();
    const auto same = std::ranges::find(program.scripts, script);
    script_of_row.push_back(static_cast<std::uint32_t>(same - program.scripts.begin()));
    if (same == program.scripts.end()) program.scripts.push_back(std::move(script));
  }
  set_ranks(program, roles, script_of_row);
  name_scripts(program, run, script_of_row);
  return program;
}

}}  // namespace c3::traces
