#include "workloads/program/check_messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "engine/errors.hpp"

namespace c3::inline workloads {
namespace {

/// One end of a message.
struct End {
  std::size_t stream = 0;
  Bytes bytes;
};

/// From one rank to another.
struct Channel {
  std::vector<End> sent, received;
};

using ChannelKey = std::tuple<CommunicatorId, int, int>;  ///< communicator, source, target

void check(const Program& program, const ChannelKey& key, const Channel& channel) {
  const auto& [communicator, source, target] = key;
  const std::string where =
      fmt::format("over '{}' rank {} sends", program.names[program.communicators[communicator].name], source);
  const std::size_t sent = channel.sent.size();
  if (sent != channel.received.size())
    throw InfeasibleError(fmt::format("{} {} message{} to rank {}, which receives {}", where, sent,
                                      sent == 1 ? "" : "s", target, channel.received.size()));
  for (std::size_t i = 0; i < channel.sent.size(); ++i) {
    const End& out = channel.sent[i];
    const End& in = channel.received[i];
    if (out.bytes != in.bytes)
      throw InfeasibleError(fmt::format("{} {:.0f} B as message {} to rank {}, which receives {:.0f} B", where,
                                        out.bytes.value, i, target, in.bytes.value));
    if (out.stream != in.stream)
      throw InfeasibleError(
          fmt::format("{} message {} to rank {} on stream '{}', which receives it on stream '{}'", where, i,
                      target, program.streams[out.stream], program.streams[in.stream]));
  }
}

}  // namespace

void check_messages(const Program& program, int ranks) {
  if (program.communicators.empty()) return;
  std::map<ChannelKey, Channel> channels;
  for (int rank = 0; rank < ranks; ++rank) {
    const Script& script = program.script_of(rank);
    for (std::size_t stream = 0; stream < script.streams.size(); ++stream) {
      for (const Operation& operation : script.streams[stream]) {
        const auto* exchange = std::get_if<Exchange>(&operation.work);
        if (exchange == nullptr) continue;
        const RankGroups& groups = program.communicators[exchange->communicator].groups;
        for (const Message& message : exchange->messages) {
          const int peer = peer_of(groups, rank, message.offset);
          const ChannelKey out{exchange->communicator, rank, peer}, in{exchange->communicator, peer, rank};
          auto& ends = message.sends ? channels[out].sent : channels[in].received;
          ends.push_back({stream, message.bytes});
        }
      }
    }
  }
  for (const auto& [key, channel] : channels)
    check(program, key, channel);
}

}  // namespace c3::workloads
