#include "workloads/program/check_messages.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/errors.hpp"
#include "workloads/program/message_ways.hpp"

namespace c3 { inline namespace workloads {
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

/// What is wrong with \p channel; nullopt: every message meets its like.
std::optional<std::string> mismatch(const Program& program, const ChannelKey& key, const Channel& channel) {
  const auto& [communicator, source, target] = key;
  const std::string where =
      fmt::format("over '{}' rank {} sends", program.names[program.communicators[communicator].name], source);
  const std::size_t sent = channel.sent.size();
  if (sent != channel.received.size())
    return fmt::format("{} {} message{} to rank {}, which receives {}", where, sent, sent == 1 ? "" : "s",
                       target, channel.received.size());
  for (std::size_t i = 0; i < channel.sent.size(); ++i) {
    const End& out = channel.sent[i];
    const End& in = channel.received[i];
    if (out.bytes != in.bytes)
      return fmt::format("{} {:.0f} B as message {} to rank {}, which receives {:.0f} B", where,
                         out.bytes.value, i, target, in.bytes.value);
    if (out.stream != in.stream)
      return fmt::format("{} message {} to rank {} on stream '{}', which receives it on stream '{}'", where, i,
                         target, program.streams[out.stream], program.streams[in.stream]);
  }
  return std::nullopt;
}

/// What the ranks of \p script send and receive on \p way, in their order.
Channel ends_of(const Program& program, const Script& script, const MessageWay& way) {
  const Communicator& communicator = program.communicators[way.communicator];
  Channel ends;
  for (std::size_t stream = 0; stream < script.streams.size(); ++stream) {
    for (const Operation& operation : script.streams[stream]) {
      const auto* exchange = std::get_if<Exchange>(&operation.work);
      if (exchange == nullptr || exchange->communicator != way.communicator) continue;
      for (const Message& message : exchange->messages) {
        if (offset_of(communicator, message) != way.offset) continue;
        (message.sends ? ends.sent : ends.received).push_back({stream, message.bytes});
      }
    }
  }
  return ends;
}

}  // namespace

void check_messages(const Program& program, int ranks) {
  std::map<ChannelKey, std::string> wrong;
  for (const MessageWay& way : message_ways(program)) {
    const RankGroups& groups = program.communicators[way.communicator].groups;
    std::vector<Channel> ends;
    for (const Script& script : program.scripts)
      ends.push_back(ends_of(program, script, way));
    // What a rank sends depends on its script only: one pair of ranks speaks for all with the same two scripts.
    std::set<std::pair<std::uint32_t, std::uint32_t>> checked;
    for (int source = 0; source < ranks; ++source) {
      const int target = peer_of(groups, source, way.offset);
      const std::uint32_t sender = program.script_number(source), receiver = program.script_number(target);
      if (!way.sends[sender] && !way.receives[receiver]) continue;
      if (!checked.emplace(sender, receiver).second) continue;
      const ChannelKey key{way.communicator, source, target};
      if (const auto what = mismatch(program, key, {ends[sender].sent, ends[receiver].received}))
        wrong.emplace(key, *what);
    }
  }
  if (!wrong.empty()) throw InfeasibleError(wrong.begin()->second);
}

}}  // namespace c3::workloads
