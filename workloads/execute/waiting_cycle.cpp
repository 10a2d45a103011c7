#include "workloads/execute/waiting_cycle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "engine/interrupt.hpp"
#include "workloads/execute/enqueue_order.hpp"

namespace c3::inline workloads {
namespace {

constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

/// A stream of a rank.
struct Place {
  int rank;
  std::size_t stream;

  auto operator<=>(const Place&) const = default;
};

/// Where a script's events are recorded, and when its host launches what.
struct ScriptIndex {
  explicit ScriptIndex(const Script& its) : script(&its), recorder(its.events.size(), kNowhere) {
    for (std::size_t stream = 0; stream < its.streams.size(); ++stream) {
      step_of.emplace_back(its.streams[stream].size(), 0);
      for (const Operation& operation : its.streams[stream]) {
        if (const auto* record = std::get_if<RecordEvent>(&operation.work)) recorder[record->event] = stream;
      }
    }
    if (!its.host) return;
    for (std::size_t step = 0; step < its.host->steps.size(); ++step) {
      if (const auto& place = its.host->steps[step].launches) step_of[place->stream][place->operation] = step;
    }
  }

  const Script* script;
  std::vector<std::size_t> recorder;              ///< by event: the stream
  std::vector<std::vector<std::size_t>> step_of;  ///< by stream and operation, of the host
};

/// Lets every operation begin and end as soon as those before it allow, without time.
class Progress {
 public:
  Progress(const Program& program, const Strategy& strategy, int ranks)
      : program_(program), serial_(strategy.serial), order_(enqueue_order(program, strategy)) {
    for (const Script& script : program.scripts)
      scripts_.emplace_back(script);
    for (int rank = 0; rank < ranks; ++rank) {
      const ScriptIndex& script = scripts_[program.script_number(rank)];
      ranks_.push_back({&script,
                        std::vector<std::size_t>(order_.size()),
                        std::vector<bool>(order_.size()),
                        std::vector<bool>(script.recorder.size()),
                        {},
                        {}});
    }
    for (const Call& call : program.calls) {
      Groups& groups = calls_.emplace_back();
      groups.of_rank.assign(ranks_.size(), kNowhere);
      for (const CollectiveCall& of_group : calls_by_group(call.what, ranks)) {
        groups.members.push_back(members_of(of_group, ranks));
        for (const int rank : groups.members.back())
          groups.of_rank[index(rank)] = groups.members.size() - 1;
      }
      groups.joined.assign(groups.members.size(), 0);
    }
  }

  void run() {
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

  bool has_ended(Place place) const { return at(place) == operations(place).size(); }

  /// Streams that have not ended.
  std::vector<Place> waiting() const {
    std::vector<Place> waiting;
    for (int rank = 0; rank < std::ssize(ranks_); ++rank) {
      for (std::size_t stream = 0; stream < order_.size(); ++stream)
        if (!has_ended({rank, stream})) waiting.push_back({rank, stream});
    }
    return waiting;
  }

  /// For what \p place waits, which has not ended; nullopt: for an event that nobody records.
  std::optional<Place> blocker_of(Place place) const {
    if (!may_begin(place)) return predecessor_of(place);
    const auto& work = operation(place).work;
    if (const auto* wait = std::get_if<WaitEvent>(&work)) return recorder_of(wait->event, place);
    if (const auto* exchange = std::get_if<Exchange>(&work))
      return Place{*absent_peer(place, *exchange), place.stream};
    return Place{absent_member(place, std::get<JoinCall>(work).call), place.stream};
  }

  std::size_t at(Place place) const { return rank(place).at[place.stream]; }

 private:
  struct Rank {
    const ScriptIndex* script;
    std::vector<std::size_t> at;         ///< by stream: its next operation
    std::vector<bool> has_begun;         ///< by stream: that operation
    std::vector<bool> recorded;          ///< by event
    std::size_t launched = 0;            ///< steps of the host that are done
    std::size_t launches = 0, ends = 0;  ///< operations that the host has launched, and those that have ended
  };
  struct Groups {
    std::vector<std::vector<int>> members;
    std::vector<std::size_t> joined;   ///< by group: how many have
    std::vector<std::size_t> of_rank;  ///< group
  };
  /// Messages from one rank to another.
  struct Channel {
    int sent = 0, received = 0;
  };
  using ChannelKey = std::tuple<CommunicatorId, int, int>;  ///< communicator, source, target

  static std::size_t index(int rank) { return static_cast<std::size_t>(rank); }
  const Rank& rank(Place place) const { return ranks_[index(place.rank)]; }
  const std::vector<Operation>& operations(Place place) const {
    return rank(place).script->script->streams[place.stream];
  }
  const Operation& operation(Place place) const { return operations(place)[at(place)]; }
  const std::optional<HostProgram>& host(Place place) const { return rank(place).script->script->host; }

  /// The host's next steps. \return whether there were any
  bool launch(int number) {
    Rank& its = ranks_[index(number)];
    const std::optional<HostProgram>& host = its.script->script->host;
    const std::size_t before = its.launched;
    while (host && its.launched < host->steps.size()) {
      const HostStep& step = host->steps[its.launched];
      if (step.waits_for && !its.recorded[*step.waits_for]) break;
      if (serial_ && step.launches && its.ends < its.launches) break;
      if (step.launches) ++its.launches;
      ++its.launched;
    }
    return its.launched > before;
  }

  bool advance(Place place) {
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

  bool may_begin(Place place) const {
    if (host(place)) return rank(place).script->step_of[place.stream][at(place)] < rank(place).launched;
    return !serial_ || place.stream == order_.front() || has_ended(*predecessor_of(place));
  }

  /// The stream of its rank for whose operations the launch of \p place waits; nullopt: for no stream's.
  std::optional<Place> predecessor_of(Place place) const {
    if (!host(place)) return Place{place.rank, *std::prev(std::ranges::find(order_, place.stream))};
    const auto& waits_for = host(place)->steps[rank(place).launched].waits_for;
    if (waits_for && !rank(place).recorded[*waits_for]) return recorder_of(*waits_for, place);
    for (std::size_t stream = 0; stream < order_.size(); ++stream)
      if (rank(place).has_begun[stream]) return Place{place.rank, stream};
    return std::nullopt;
  }

  /// The stream of the rank of \p place that records \p event; nullopt: none does.
  std::optional<Place> recorder_of(EventId event, Place place) const {
    const std::size_t stream = rank(place).script->recorder[event];
    return stream == kNowhere ? std::nullopt : std::optional(Place{place.rank, stream});
  }

  void begin(Place place) {
    ranks_[index(place.rank)].has_begun[place.stream] = true;
    const auto& work = operation(place).work;
    if (const auto* join = std::get_if<JoinCall>(&work)) {
      Groups& groups = calls_[join->call];
      const std::size_t group = groups.of_rank[index(place.rank)];
      if (++groups.joined[group] == groups.members[group].size())
        std::ranges::copy(groups.members[group], std::back_inserter(awake_));
    } else if (const auto* exchange = std::get_if<Exchange>(&work)) {
      std::vector<int>& numbers = numbers_[place];
      numbers.clear();
      for (const Message& message : exchange->messages) {
        Channel& channel = channels_[channel_of(*exchange, place, message)];
        numbers.push_back(message.sends ? channel.sent++ : channel.received++);
        awake_.push_back(peer(*exchange, place, message));
      }
    }
  }

  bool may_end(Place place) const {
    const auto& work = operation(place).work;
    if (const auto* wait = std::get_if<WaitEvent>(&work)) return rank(place).recorded[wait->event];
    if (const auto* join = std::get_if<JoinCall>(&work)) {
      const Groups& groups = calls_[join->call];
      const std::size_t group = groups.of_rank[index(place.rank)];
      return groups.joined[group] == groups.members[group].size();
    }
    const auto* exchange = std::get_if<Exchange>(&work);
    return exchange == nullptr || !absent_peer(place, *exchange);
  }

  int peer(const Exchange& exchange, Place place, const Message& message) const {
    return peer_of(program_.communicators[exchange.communicator].groups, place.rank, message.offset);
  }

  ChannelKey channel_of(const Exchange& exchange, Place place, const Message& message) const {
    const int other = peer(exchange, place, message);
    return {exchange.communicator, message.sends ? place.rank : other, message.sends ? other : place.rank};
  }

  /// A rank that has not come for a message of \p exchange, which \p place has begun.
  std::optional<int> absent_peer(Place place, const Exchange& exchange) const {
    for (std::size_t i = 0; i < exchange.messages.size(); ++i) {
      const Message& message = exchange.messages[i];
      const Channel& channel = channels_.at(channel_of(exchange, place, message));
      if ((message.sends ? channel.received : channel.sent) <= numbers_.at(place)[i])
        return peer(exchange, place, message);
    }
    return std::nullopt;
  }

  /// One that has not joined \p call with \p place.
  int absent_member(Place place, CallId call) const {
    const Groups& groups = calls_[call];
    const auto& members = groups.members[groups.of_rank[index(place.rank)]];
    const auto has_joined = [&](int member) {
      const Place other{member, place.stream};
      if (has_ended(other) || !rank(other).has_begun[other.stream]) return false;
      return operation(other).work == operation(place).work;
    };
    const auto absent = std::ranges::find_if_not(members, has_joined);
    if (absent == members.end()) throw std::logic_error("waiting_cycle: nobody is absent");
    return *absent;
  }

  const Program& program_;
  bool serial_;
  std::vector<std::size_t> order_;  ///< of streams
  std::vector<ScriptIndex> scripts_;
  std::vector<Rank> ranks_;
  std::vector<Groups> calls_;
  std::map<ChannelKey, Channel> channels_;
  std::map<Place, std::vector<int>> numbers_;  ///< of the messages of an exchange that has begun
  std::vector<int> awake_;                     ///< ranks that may go on
};

}  // namespace

std::vector<StreamWait> waiting_cycle(const Program& program, const Strategy& strategy, int ranks) {
  Progress progress(program, strategy, ranks);
  progress.run();
  std::map<Place, std::size_t> seen;  // and the way on which it was
  std::size_t way = 0;
  for (const Place start : progress.waiting()) {
    checkpoint();
    ++way;
    std::vector<StreamWait> waits;
    for (std::optional<Place> next = start; next && !progress.has_ended(*next);) {
      const auto [found, is_new] = seen.try_emplace(*next, way);
      if (!is_new && found->second < way) break;  // that one led to no circle
      if (!is_new) {                              // what leads to the circle is not part of it
        const auto is_first = [&](const StreamWait& wait) {
          return wait.rank == next->rank && wait.stream == next->stream;
        };
        waits.erase(waits.begin(), std::ranges::find_if(waits, is_first));
        return waits;
      }
      const std::optional<Place> other = progress.blocker_of(*next);
      if (other) waits.push_back({next->rank, next->stream, progress.at(*next), other->rank, other->stream});
      next = other;
    }
  }
  return {};
}

std::string text_of(const std::vector<StreamWait>& waits, const Program& program) {
  constexpr std::size_t kNamed = 16;
  std::string text = waits.size() == 1
                         ? std::string("a stream waits for itself")
                         : fmt::format("{} streams wait for one another in a circle", waits.size());
  for (std::size_t i = 0; i < std::min(waits.size(), kNamed); ++i) {
    const StreamWait& wait = waits[i];
    const Operation& operation = program.script_of(wait.rank).streams[wait.stream][wait.operation];
    const bool is_wait = std::holds_alternative<WaitEvent>(operation.work);
    const std::string name = (is_wait ? "event " : "") + program.name_of(operation);
    text +=
        fmt::format("{} stream '{}' of rank {}, at operation {}{}, waits for stream '{}' of rank {}",
                    i == 0 ? ":" : ";", program.streams[wait.stream], wait.rank, wait.operation,
                    name.empty() ? "" : " (" + name + ")", program.streams[wait.other_stream], wait.other_rank);
  }
  if (waits.size() > kNamed) text += fmt::format("; and {} more", waits.size() - kNamed);
  return text;
}

}  // namespace c3::workloads
