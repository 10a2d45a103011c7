#include "workloads/execute/timeless_run.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "engine/interrupt.hpp"
#include "workloads/execute/enqueue_order.hpp"
#include "workloads/execute/partition.hpp"

namespace c3 { inline namespace workloads {

TimelessRun::ScriptIndex::ScriptIndex(const Script& its, bool one_by_one)
    : script(&its), recorder(its.events.size()), thread(its.events.size()) {
  for (std::size_t stream = 0; stream < its.streams.size(); ++stream) {
    launch.emplace_back(its.streams[stream].size());
    for (const Operation& operation : its.streams[stream]) {
      if (const auto* record = std::get_if<RecordEvent>(&operation.work)) recorder[record->event] = stream;
    }
  }
  if (!its.host) return;
  queues = its.streams.size();
  if (its.host->hardware_queues > 0 && its.host->threads.size() == 1)
    queues = std::min(queues, static_cast<std::size_t>(its.host->hardware_queues));
  if (one_by_one) queues = 1;
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
    scripts_.emplace_back(script, serial_);
  for (int rank = 0; rank < ranks; ++rank) {
    Rank& its = ranks_.emplace_back(Rank{.script = &scripts_[program.script_number(rank)]});
    its.at.resize(order_.size());
    its.has_begun.resize(order_.size());
    its.recorded.resize(its.script->recorder.size());
    if (!its.script->script->host) continue;
    its.done.resize(its.script->script->host->threads.size());
    its.launches.resize(order_.size());
    its.number.resize(order_.size());
    its.enqueued.resize(its.script->queues);
    its.passed.resize(its.script->queues);
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
  if (!rank(place).has_begun[place.stream]) return predecessor_of(place);
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
    if (step.launches && is_full(its, step.launches->stream)) break;
    ++done;
    if (step.launches) enqueue(its, *step.launches);
    if (step.records) its.recorded[*step.records] = true;
  }
  return done > before;
}

bool TimelessRun::is_full(const Rank& its, std::size_t stream) const {
  const auto room = static_cast<std::size_t>(its.script->script->host->launch_queue);
  return its.launches[stream] - its.at[stream] >= room;
}

/// What has been launched before earlier operations of its stream enters its queue after them.
void TimelessRun::enqueue(Rank& its, OperationPlace place) {
  ++its.launches[place.stream];
  const std::vector<HostPlace>& launch = its.script->launch[place.stream];
  std::vector<std::size_t>& number = its.number[place.stream];
  const auto is_launched = [&](const HostPlace& step) { return step.step < its.done[step.thread]; };
  while (number.size() < launch.size() && is_launched(launch[number.size()]))
    number.push_back(its.enqueued[place.stream % its.script->queues]++);
}

/// The stream's next operations. \return whether any has begun or ended
bool TimelessRun::advance(StreamPlace place) {
  Rank& its = ranks_[index(place.rank)];
  bool any = false;
  while (!has_ended(place)) {
    const bool has_begun = its.has_begun[place.stream];
    if (!has_begun && !may_begin(place)) break;
    if (!has_begun) begin(place);
    any = any || !has_begun;
    if (!may_end(place)) break;
    any = true;
    if (host(place) && holds_its_queue(place)) ++its.passed[place.stream % its.script->queues];
    if (const auto* record = std::get_if<RecordEvent>(&operation(place).work))
      its.recorded[record->event] = true;
    its.has_begun[place.stream] = false;
    ++its.at[place.stream];
  }
  return any;
}

bool TimelessRun::may_begin(StreamPlace place) const {
  if (host(place)) {
    const Rank& its = rank(place);
    const std::vector<std::size_t>& number = its.number[place.stream];
    return at(place) < number.size() && number[at(place)] == its.passed[place.stream % its.script->queues];
  }
  return !serial_ || place.stream == order_.front() || has_ended(predecessor_of(place).value());
}

/// Whether the next operation of \p place lets those behind it in its queue begin only when it has ended.
bool TimelessRun::holds_its_queue(StreamPlace place) const {
  return serial_ || std::holds_alternative<WaitEvent>(operation(place).work);
}

std::optional<std::size_t> TimelessRun::queue_waited_in(StreamPlace place) const {
  const Rank& its = rank(place);
  if (!host(place) || serial_ || its.has_begun[place.stream]) return std::nullopt;
  if (at(place) >= its.number[place.stream].size()) return std::nullopt;
  return place.stream % its.script->queues;
}

/// The stream of its rank that keeps the next operation of \p place from its launch or its turn; nullopt: none.
std::optional<StreamPlace> TimelessRun::predecessor_of(StreamPlace place) const {
  if (!host(place)) return StreamPlace{place.rank, *std::prev(std::ranges::find(order_, place.stream))};
  const Rank& its = rank(place);
  if (at(place) >= its.number[place.stream].size())
    return blocker_of_thread(its.script->launch[place.stream][at(place)].thread, place);
  const std::size_t queue = place.stream % its.script->queues;
  for (std::size_t stream = queue; stream < order_.size(); stream += its.script->queues) {
    if (std::ranges::binary_search(its.number[stream], its.passed[queue]))
      return StreamPlace{place.rank, stream};
  }
  throw std::logic_error("TimelessRun: nothing is at the head of a hardware queue");
}

/// The stream for which \p thread of the host of the rank of \p place waits, by way of other threads: one that
/// records an event, or fills its launch queue; nullopt: none, or threads wait for one another.
std::optional<StreamPlace> TimelessRun::blocker_of_thread(std::size_t thread, StreamPlace place) const {
  const Rank& its = rank(place);
  for (std::size_t others = 0; others < its.done.size(); ++others) {
    const std::vector<HostStep>& steps = host(place)->threads[thread].steps;
    if (its.done[thread] == steps.size()) return std::nullopt;
    const HostStep& step = steps[its.done[thread]];
    if (!step.waits_for || its.recorded[*step.waits_for])
      return StreamPlace{place.rank, step.launches.value().stream};
    if (!its.script->thread[*step.waits_for]) return recorder_of(*step.waits_for, place);
    thread = *its.script->thread[*step.waits_for];
  }
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
  Rank& its = ranks_[index(place.rank)];
  its.has_begun[place.stream] = true;
  if (host(place) && !holds_its_queue(place)) ++its.passed[place.stream % its.script->queues];
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

}}  // namespace c3::workloads
