#include "workloads/tune/linked_ranks.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "engine/interrupt.hpp"

namespace c3 { inline namespace workloads {
/// Lets ranks go on in turn, and writes down what they do.
class LinkedPlay::Player {
 public:
  Player(const Program& program, const std::vector<int>& ranks, const MessageTime& message_time,
         LinkedPlay& play)
      : program_(program), message_time_(message_time), known_(ranks.begin(), ranks.end()), play_(play) {
    for (const int number : ranks) {
      const std::uint32_t script = program.script_number(number);
      const Script& played_script = program.scripts[script];
      PlayedRank& rank = ranks_.emplace_back(PlayedRank{.number = number, .script = script});
      for (std::size_t stream = 0; stream < played_script.streams.size(); ++stream) {
        rank.streams.push_back({.number = static_cast<std::uint32_t>(play_.streams_.size())});
        play_.streams_.push_back({script, stream});
      }
      rank.recorded.resize(played_script.events.size());
    }
  }

  void play() {
    for (bool goes_on = true; goes_on;) {
      checkpoint();
      goes_on = false;
      for (PlayedRank& rank : ranks_) {
        while (advance(rank))
          goes_on = true;
      }
    }
  }

 private:
  /// Messages from one rank to another of one communicator and stream, in their order.
  using ChannelKey = std::tuple<CommunicatorId, std::size_t, int, int>;  ///< .., stream, sender, receiver

  /// Messages that were sent, by the number of their date.
  struct Channel {
    std::vector<std::uint32_t> sent = {};
    std::size_t received = 0;
  };

  struct PlayedStream {
    std::uint32_t number = 0;  ///< of all streams
    std::size_t at = 0;
    bool has_sent = false;         ///< of the exchange at which it stands
    std::size_t next_message = 0;  ///< of that exchange, to receive
  };

  struct PlayedRank {
    int number = 0;
    std::uint32_t script = 0;
    std::vector<PlayedStream> streams = {};
    std::vector<std::optional<std::uint32_t>> recorded = {};  ///< by event: the number of its date
  };

  /// Each of its streams, as far as it can go. \returns whether one has moved.
  bool advance(PlayedRank& rank) {
    bool moved = false;
    for (std::size_t stream = 0; stream < rank.streams.size(); ++stream) {
      const std::vector<Operation>& operations = program_.scripts[rank.script].streams[stream];
      PlayedStream& played = rank.streams[stream];
      while (played.at < operations.size() && step(rank, stream, operations[played.at])) {
        ++played.at;
        moved = true;
      }
    }
    return moved;
  }

  bool step(PlayedRank& rank, std::size_t number, const Operation& operation) {
    PlayedStream& stream = rank.streams[number];
    if (const auto* wait = std::get_if<WaitEvent>(&operation.work)) {
      if (!rank.recorded[wait->event]) return false;
      await(stream, *rank.recorded[wait->event], {});
    } else if (const auto* record = std::get_if<RecordEvent>(&operation.work)) {
      rank.recorded[record->event] = keep(stream);
    } else if (const auto* exchange = std::get_if<Exchange>(&operation.work)) {
      return end(rank, number, *exchange, stream);
    } else {
      play_.steps_.push_back({.action = Action::run,
                              .stream = stream.number,
                              .operation = static_cast<std::uint32_t>(stream.at),
                              .kept = 0,
                              .message = {}});
    }
    return true;
  }

  std::uint32_t keep(const PlayedStream& stream) {
    const auto kept = static_cast<std::uint32_t>(play_.kept_++);
    play_.steps_.push_back(
        {.action = Action::record, .stream = stream.number, .operation = 0, .kept = kept, .message = {}});
    return kept;
  }
  void await(const PlayedStream& stream, std::uint32_t kept, Seconds message) {
    play_.steps_.push_back(
        {.action = Action::wait, .stream = stream.number, .operation = 0, .kept = kept, .message = message});
  }

  /// All of its messages at once. \returns whether those have come that it receives.
  bool end(const PlayedRank& rank, std::size_t number, const Exchange& exchange, PlayedStream& stream) {
    const RankGroups& groups = program_.communicators[exchange.communicator].groups;
    const auto channel = [&](int from, int to) -> Channel& {
      return channels_[{exchange.communicator, number, from, to}];
    };
    if (!stream.has_sent) {
      for (const Message& message : exchange.messages) {
        const int peer = peer_of(groups, rank.number, message.offset);
        if (message.sends && known_.contains(peer)) channel(rank.number, peer).sent.push_back(keep(stream));
      }
      stream.has_sent = true;
    }
    for (; stream.next_message < exchange.messages.size(); ++stream.next_message) {
      const Message& message = exchange.messages[stream.next_message];
      const int peer = peer_of(groups, rank.number, message.offset);
      if (message.sends || !known_.contains(peer)) continue;
      Channel& from_peer = channel(peer, rank.number);
      if (from_peer.received == from_peer.sent.size()) return false;
      await(stream, from_peer.sent[from_peer.received++],
            message_time_ ? message_time_(message.bytes, peer, rank.number) : Seconds{});
    }
    stream.has_sent = false;
    stream.next_message = 0;
    return true;
  }

  const Program& program_;
  const MessageTime& message_time_;
  std::set<int> known_;
  LinkedPlay& play_;
  std::vector<PlayedRank> ranks_;
  std::map<ChannelKey, Channel> channels_;
};

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

LinkedPlay::LinkedPlay(const Program& program, const std::vector<int>& ranks, const MessageTime& message_time) {
  Player(program, ranks, message_time, *this).play();
}

Seconds LinkedPlay::time(const ProgramTimes& lasts, bool with_messages) const {
  std::vector<Seconds> dates(streams_.size()), kept(kept_);
  for (const Step& step : steps_) {
    Seconds& date = dates[step.stream];
    switch (step.action) {
      case Action::run:
        date += lasts[streams_[step.stream].script][streams_[step.stream].number][step.operation];
        break;
      case Action::record:
        kept[step.kept] = date;
        break;
      case Action::wait:
        date = std::max(date, kept[step.kept] + (with_messages ? step.message : Seconds{}));
        break;
    }
  }
  return dates.empty() ? Seconds{} : std::ranges::max(dates);
}

}}  // namespace c3::workloads
