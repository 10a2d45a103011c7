#include "workloads/execute/timeless_run.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "engine/interrupt.hpp"
#include "workloads/execute/enqueue_order.hpp"
#include "workloads/execute/partition.hpp"

namespace c3::inline workloads {

TimelessRun::ScriptIndex::ScriptIndex(const Script& its)
    : script(&its), recorder(its.events.size()), thread(its.events.size()) {
  for (std::size_t stream = 0; stream < its.streams.size(); ++stream) {
    launch.emplace_back(its.streams[stream].size());
    for (const Operation& operation : its.streams[stream]) {
      if (const auto* record = std::get_if<RecordEvent>(&operation.work)) recorder[record->event] = stream;
    }
  }
  if (!its.host) return;
  for (std::size_t number = 0; number < its.host->threads.size(); ++number) {
    const std::vector<HostStep>& steps = its.host->threads[number].steps;
    for (std::size_t step = 0; step < steps.size(); ++step) {
      if (const auto& place = steps[step].launches) launch[place->stream][place->operation] = {number, step};
      if (steps[step].records) thread[*steps[step].records] = number;
    }
  }
}

TimelessRun::TimelessRun(const Program& program, const Strategy& strategy, int ranks,
                         const CollectiveLibrarySpec* library)
    : program_(program), serial_(strategy.serial), order_(enqueue_order(program, strategy)) {
  for (const std::string& stream : program.streams) {
    const bool has_buffers = library != nullptr && policy_of(strategy, stream).backend == Backend::cu;
    buffers_.push_back(has_buffers ? library->pair_buffer : Bytes{});
  }
  for (const Script& script : program.scripts)
    scripts_.emplace_back(script);
  for (int rank = 0; rank < ranks; ++rank) {
    Rank& its = ranks_.emplace_back(Rank{.script = &scripts_[program.script_number(rank)]});
    its.at.resize(order_.size());
    its.has_begun.resize(order_.size());
    its.recorded.resize(its.script->recorder.size());
    if (its.script->script->host) its.done.resize(its.script->script->host->threads.size());
  }
  for (CallId call = 0; call < program.calls.size(); ++call) {
    CallState& state = calls_.emplace_back(CallState{.grouping = grouping_of(call)});
    state.joined.resize(state.grouping->members.size());
  }
}

std::shared_ptr<const TimelessRun::Grouping> TimelessRun::grouping_of(CallId call) const {
  const CollectiveCall& what = program_.calls[call].what;
  for (CallId earlier = 0; earlier < calls_.size(); ++earlier) {
    const CollectiveCall& known = program_.calls[earlier].what;
    if (known.ranks == what.ranks && known.groups == what.groups) return calls_[earlier].grouping;
  }
  const int ranks = static_cast<int>(ranks_.size());
  auto grouping = std::make_shared<Grouping>();
  grouping->of_rank.resize(ranks_.size());
  for (const CollectiveCall& of_group : calls_by_group(what, ranks)) {
    for (const int rank : grouping->members.emplace_back(members_of(of_group, ranks)))
      grouping->of_rank[index(rank)] = grouping->members.size() - 1;
  }
  return grouping;
}

void TimelessRun::run() {
  for (int rank = 0; rank < std::ssize(ranks_); ++rank)
    awake_.push_back(rank);
  while (!awake_.empty()) {
    checkpoint();
    const int rank = awake_.back();
    awake_.pop_back();
    for (bool goes_on = true; goes_on;) {
      goes_on = launch(rank);
      for (std::size_t stream = 0; stream < order_.size(); ++stream)
        goes_on |= advance({rank, stream});
    }
  }
}

std::vector<StreamPlace> TimelessRun::waiting() const {
  std::vector<StreamPlace> waiting;
  for (int rank = 0; rank < std::ssize(ranks_); ++rank) {
    for (std::size_t stream = 0; stream < order_.size(); ++stream)
      if (!has_ended({rank, stream})) waiting.push_back({rank, stream});
  }
  return waiting;
}

std::optional<StreamPlace> TimelessRun::blocker_of(StreamPlace place) {
  if (!may_begin(place)) return predecessor_of(place);
  const auto& work = operation(place).work;
  if (const auto* wait = std::get_if<WaitEvent>(&work)) return recorder_of(wait->event, place);
  if (const auto* exchange = std::get_if<Exchange>(&work))
    return StreamPlace{absent_peer(place, *exchange).value(), place.stream};
  return StreamPlace{absent_member(place, std::get<JoinCall>(work).call), place.stream};
}

/// The next steps of the host's threads. \return whether there were any
bool TimelessRun::launch(int number) {
  Rank& its = ranks_[index(number)];
  bool any = false;
  for (bool goes_on = true; goes_on; any |= goes_on) {
    goes_on = false;
    for (std::size_t thread = 0; thread < its.done.size(); ++thread)
      goes_on |= go_on(its, thread);
  }
  return any;
}

bool TimelessRun::go_on(Rank& its, std::size_t thread) {
  const std::vector<HostStep>& steps = its.script->script->host->threads[thread].steps;
  std::size_t& done = its.done[thread];
  const std::size_t before = done;
  while (done < steps.size()) {
    const HostStep& step = steps[done];
    if (step.waits_for && !its.recorded[*step.waits_for]) break;
    if (serial_ && step.launches && its.ends < its.launches) break;
    if (step.launches) ++its.launches;
    if (step.records) its.recorded[*step.records] = true;
    ++done;
  }
  return done > before;
}

/// The stream's next operations. \return whether any has ended
bool TimelessRun::advance(StreamPlace place) {
  Rank& its = ranks_[index(place.rank)];
  const std::size_t before = at(place);
  while (!has_ended(place) && may_begin(place)) {
    if (!its.has_begun[place.stream]) begin(place);
    if (!may_end(place)) break;
    if (const auto* record = std::get_if<RecordEvent>(&operation(place).work))
      its.recorded[record->event] = true;
    its.has_begun[place.stream] = false;
    ++its.at[place.stream];
    ++its.ends;
  }
  return at(place) > before;
}

bool TimelessRun::may_begin(StreamPlace place) const {
  if (host(place)) {
    const HostPlace& launch = rank(place).script->launch[place.stream][at(place)];
    return launch.step < rank(place).done[launch.thread];
  }
  return !serial_ || place.stream == order_.front() || has_ended(predecessor_of(place).value());
}

/// The stream of its rank for whose operations the launch of \p place waits; nullopt: for no stream's.
std::optional<StreamPlace> TimelessRun::predecessor_of(StreamPlace place) const {
  if (!host(place)) return StreamPlace{place.rank, *std::prev(std::ranges::find(order_, place.stream))};
  return blocker_of_thread(rank(place).script->launch[place.stream][at(place)].thread, place);
}

/// The stream for which \p thread of the host of the rank of \p place waits, by way of other threads; nullopt:
/// for none, or threads wait for one another.
std::optional<StreamPlace> TimelessRun::blocker_of_thread(std::size_t thread, StreamPlace place) const {
  const Rank& its = rank(place);
  for (std::size_t others = 0; others < its.done.size(); ++others) {
    const std::vector<HostStep>& steps = host(place)->threads[thread].steps;
    const std::optional<EventId> waits_for =
        its.done[thread] < steps.size() ? steps[its.done[thread]].waits_for : std::nullopt;
    if (!waits_for || its.recorded[*waits_for]) break;
    if (!its.script->thread[*waits_for]) return recorder_of(*waits_for, place);
    thread = *its.script->thread[*waits_for];
  }
  for (std::size_t stream = 0; stream < order_.size(); ++stream)
    if (its.has_begun[stream]) return StreamPlace{place.rank, stream};
  return std::nullopt;
}

/// The stream of the rank of \p place that records \p event; nullopt: none does.
std::optional<StreamPlace> TimelessRun::recorder_of(EventId event, StreamPlace place) const {
  const ScriptIndex& script = *rank(place).script;
  if (script.thread[event]) return blocker_of_thread(*script.thread[event], place);
  const std::optional<std::size_t> stream = script.recorder[event];
  return stream ? std::optional(StreamPlace{place.rank, *stream}) : std::nullopt;
}

void TimelessRun::begin(StreamPlace place) {
  ranks_[index(place.rank)].has_begun[place.stream] = true;
  const auto& work = operation(place).work;
  if (const auto* join = std::get_if<JoinCall>(&work)) {
    CallState& call = calls_[join->call];
    const std::size_t group = group_of(place, join->call);
    ++call.joined[group];
    if (call.is_complete(group)) std::ranges::copy(call.grouping->members[group], std::back_inserter(awake_));
  } else if (const auto* exchange = std::get_if<Exchange>(&work)) {
    std::vector<std::size_t>& numbers = numbers_[place];
    numbers.clear();
    for (const Message& message : exchange->messages) {
      const ChannelKey key = channel_of(*exchange, place, message);
      MessageChannel& channel = channels_.try_emplace(key, buffers_[place.stream]).first->second;
      numbers.push_back(message.sends ? channel.send(message.bytes) : channel.receive());
      awake_.push_back(peer(*exchange, place, message));
    }
  }
}

bool TimelessRun::may_end(StreamPlace place) const {
  const auto& work = operation(place).work;
  if (const auto* wait = std::get_if<WaitEvent>(&work)) return rank(place).recorded[wait->event];
  if (const auto* join = std::get_if<JoinCall>(&work))
    return calls_[join->call].is_complete(group_of(place, join->call));
  const auto* exchange = std::get_if<Exchange>(&work);
  return exchange == nullptr || !absent_peer(place, *exchange);
}

int TimelessRun::peer(const Exchange& exchange, StreamPlace place, const Message& message) const {
  return peer_of(program_.communicators[exchange.communicator].groups, place.rank, message.offset);
}

TimelessRun::ChannelKey TimelessRun::channel_of(const Exchange& exchange, StreamPlace place,
                                                const Message& message) const {
  const int other = peer(exchange, place, message);
  return {exchange.communicator, message.sends ? place.rank : other, message.sends ? other : place.rank};
}

/// A rank that has not come for a message of \p exchange, which \p place has begun, or for one that takes its
/// room.
std::optional<int> TimelessRun::absent_peer(StreamPlace place, const Exchange& exchange) const {
  for (std::size_t i = 0; i < exchange.messages.size(); ++i) {
    const Message& message = exchange.messages[i];
    const MessageChannel& channel = channels_.at(channel_of(exchange, place, message));
    const std::size_t number = numbers_.at(place)[i];
    if (!(message.sends ? channel.has_left(number) : channel.has_come(number)))
      return peer(exchange, place, message);
  }
  return std::nullopt;
}

/// One that has not joined \p call with \p place.
int TimelessRun::absent_member(StreamPlace place, CallId call) {
  const std::size_t group = group_of(place, call);
  const auto [known, is_new] = absent_.try_emplace({call, group}, -1);
  if (!is_new) return known->second;
  const auto has_joined = [&](int member) {
    const StreamPlace other{member, place.stream};
    if (has_ended(other) || !rank(other).has_begun[other.stream]) return false;
    return operation(other).work == operation(place).work;
  };
  const std::vector<int>& members = calls_[call].grouping->members[group];
  const auto absent = std::ranges::find_if_not(members, has_joined);
  if (absent == members.end()) throw std::logic_error("TimelessRun: a call waits for nobody");
  return known->second = *absent;
}

}  // namespace c3::workloads
