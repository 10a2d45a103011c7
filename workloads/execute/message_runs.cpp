#include "workloads/execute/message_runs.hpp"

#include <fmt/format.h>

#include <utility>

#include "collectives/backends/backend.hpp"

namespace c3::inline workloads {

CollectiveRun& MessageRuns::next(CommunicatorId communicator, int rank, const Message& message,
                                 std::size_t stream) {
  const Communicator& over = program_.communicators[communicator];
  const int peer = peer_of(over.groups, rank, message.offset);
  const auto [source, target] = message.sends ? std::pair(rank, peer) : std::pair(peer, rank);
  Channel& channel = channels_[{communicator, source, target}];
  const std::size_t number = message.sends ? channel.sent++ : channel.received++;
  if (number == channel.runs.size()) {
    CollectiveCall call{.kind = CollectiveKind::all_to_all_v, .ranks = {source, target}};
    call.sends = {Bytes{}, message.bytes, Bytes{}, Bytes{}};
    std::string name = fmt::format("{} {} to {}", program_.names[over.name], source, target);
    channel.runs.push_back(make_collective(cluster_, plan_of_(stream, std::move(name), std::move(call))));
  }
  return *channel.runs[number];
}

}  // namespace c3::workloads
