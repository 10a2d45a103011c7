#include "workloads/tune/linked_ranks.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "engine/interrupt.hpp"

namespace c3::inline workloads {
namespace {

/// Messages from one rank to another of one communicator and stream, in their order.
using ChannelKey = std::tuple<CommunicatorId, std::size_t, int, int>;  ///< .., stream, sender, receiver

/// Dates at which messages were sent.
struct Channel {
  std::vector<Seconds> sent = {};
  std::size_t received = 0;
};

struct Stream {
  std::size_t at = 0;
  Seconds date;
  bool has_sent = false;         ///< of the exchange at which it stands
  std::size_t next_message = 0;  ///< of that exchange, to receive
};

struct Rank {
  int number = 0;
  std::uint32_t script = 0;
  std::vector<Stream> streams;
  std::vector<std::optional<Seconds>> recorded;  ///< by event
};

class Player {
 public:
  Player(const Program& program, const std::vector<int>& ranks,
         const std::vector<std::vector<std::vector<Seconds>>>& lasts, const MessageTime& message_time)
      : program_(program), lasts_(lasts), message_time_(message_time), known_(ranks.begin(), ranks.end()) {
    for (const int number : ranks) {
      const std::uint32_t script = program.script_number(number);
      const Script& its = program.scripts[script];
      ranks_.push_back({number, script, std::vector<Stream>(its.streams.size()),
                        std::vector<std::optional<Seconds>>(its.events.size())});
    }
  }

  Seconds play() {
    for (bool goes_on = true; goes_on;) {
      checkpoint();
      goes_on = false;
      for (Rank& rank : ranks_) {
        while (advance(rank))
          goes_on = true;
      }
    }
    Seconds time;
    for (const Rank& rank : ranks_) {
      for (const Stream& stream : rank.streams)
        time = std::max(time, stream.date);
    }
    return time;
  }

 private:
  /// Each of its streams, as far as it can go. \returns whether one has moved.
  bool advance(Rank& rank) {
    bool moved = false;
    for (std::size_t stream = 0; stream < rank.streams.size(); ++stream) {
      const std::vector<Operation>& operations = program_.scripts[rank.script].streams[stream];
      Stream& its = rank.streams[stream];
      while (its.at < operations.size() && step(rank, stream, operations[its.at])) {
        ++its.at;
        moved = true;
      }
    }
    return moved;
  }

  bool step(Rank& rank, std::size_t number, const Operation& operation) {
    Stream& stream = rank.streams[number];
    if (const auto* wait = std::get_if<WaitEvent>(&operation.work)) {
      if (!rank.recorded[wait->event]) return false;
      stream.date = std::max(stream.date, *rank.recorded[wait->event]);
    } else if (const auto* record = std::get_if<RecordEvent>(&operation.work)) {
      rank.recorded[record->event] = stream.date;
    } else if (const auto* exchange = std::get_if<Exchange>(&operation.work)) {
      return end(rank, number, *exchange, stream);
    } else {
      stream.date += lasts_[rank.script][number][stream.at];
    }
    return true;
  }

  /// All of its messages at once. \returns whether those have come that it receives.
  bool end(const Rank& rank, std::size_t number, const Exchange& exchange, Stream& stream) {
    const RankGroups& groups = program_.communicators[exchange.communicator].groups;
    const auto channel = [&](const Message& message) -> Channel& {
      const int peer = peer_of(groups, rank.number, message.offset);
      return channels_[{exchange.communicator, number, message.sends ? rank.number : peer,
                        message.sends ? peer : rank.number}];
    };
    if (!stream.has_sent) {
      for (const Message& message : exchange.messages)
        if (message.sends) channel(message).sent.push_back(stream.date);
      stream.has_sent = true;
    }
    for (; stream.next_message < exchange.messages.size(); ++stream.next_message) {
      const Message& message = exchange.messages[stream.next_message];
      if (message.sends || !known_.contains(peer_of(groups, rank.number, message.offset))) continue;
      Channel& its = channel(message);
      if (its.received == its.sent.size()) return false;
      const Seconds lasts =
          message_time_
              ? message_time_(message.bytes, peer_of(groups, rank.number, message.offset), rank.number)
              : Seconds{};
      stream.date = std::max(stream.date, its.sent[its.received++] + lasts);
    }
    stream.has_sent = false;
    stream.next_message = 0;
    return true;
  }

  const Program& program_;
  const std::vector<std::vector<std::vector<Seconds>>>& lasts_;
  const MessageTime& message_time_;
  std::set<int> known_;
  std::vector<Rank> ranks_;
  std::map<ChannelKey, Channel> channels_;
};

}  // namespace

std::vector<int> linked_ranks(const Program& program, int first, std::size_t most) {
  std::vector<int> ranks = {first};
  std::set<int> seen = {first};
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const int rank = ranks[i];
    for_each_operation(program.script_of(rank), [&](const Operation& operation) {
      const auto* exchange = std::get_if<Exchange>(&operation.work);
      if (exchange == nullptr) return;
      const RankGroups& groups = program.communicators[exchange->communicator].groups;
      for (const Message& message : exchange->messages) {
        const int peer = peer_of(groups, rank, message.offset);
        if (!message.sends && ranks.size() < most && seen.insert(peer).second) ranks.push_back(peer);
      }
    });
  }
  return ranks;
}

Seconds linked_time(const Program& program, const std::vector<int>& ranks,
                    const std::vector<std::vector<std::vector<Seconds>>>& lasts,
                    const MessageTime& message_time) {
  return Player(program, ranks, lasts, message_time).play();
}

}  // namespace c3::workloads
