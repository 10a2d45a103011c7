#include "workloads/execute/message_runs.hpp"

#include <fmt/format.h>

#include <utility>

#include "collectives/backends/backend.hpp"

namespace c3::inline workloads {

std::pair<int, int> MessageRuns::ends_of(const Communicator& over, int rank, const Message& message) const {
  const int peer = peer_of(over.groups, rank, message.offset);
  const int source = message.sends ? rank : peer;
  const int offset = message.sends ? message.offset : -message.offset;
  const int sender = cluster_.stand_in(source);
  return {sender, peer_of(over.groups, sender, offset)};
}

std::vector<std::vector<int>> MessageRuns::pairs_of(const Communicator& over, std::pair<int, int> ends) const {
  const auto [source, target] = ends;
  int offset = 1;
  while (peer_of(over.groups, source, offset) != target)
    ++offset;
  const RankPartition& classes = *cluster_.setup().classes;
  std::vector<std::vector<int>> pairs;
  for (int rank = 0; rank < classes.ranks(); ++rank) {
    if (classes.stand_in(rank) == source) pairs.push_back({rank, peer_of(over.groups, rank, offset)});
  }
  return pairs;
}

CollectivePlan MessageRuns::plan_of(const Communicator& over, std::pair<int, int> ends, Channel& channel,
                                    Bytes bytes, std::size_t stream) const {
  const auto [source, target] = ends;
  CollectiveCall call{.kind = CollectiveKind::all_to_all_v, .ranks = {source, target}};
  call.sends = {Bytes{}, bytes, Bytes{}, Bytes{}};
  std::string name = fmt::format("{} {} to {}", program_.names[over.name], source, target);
  CollectivePlan plan = plan_of_(stream, std::move(name), std::move(call));
  if (cluster_.setup().classes) {
    if (!channel.pairs)
      channel.pairs = std::make_shared<const std::vector<std::vector<int>>>(pairs_of(over, ends));
    plan.groups = channel.pairs;
  }
  return plan;
}

void MessageRuns::plan_ahead() {
  if (!cluster_.setup().classes) return;
  for (int place = 0; place < cluster_.simulated_ranks(); ++place) {
    const int rank = cluster_.simulated_rank(place);
    const Script& script = program_.script_of(rank);
    for (std::size_t stream = 0; stream < script.streams.size(); ++stream) {
      for (const Operation& operation : script.streams[stream]) {
        const auto* exchange = std::get_if<Exchange>(&operation.work);
        if (exchange == nullptr) continue;
        const Communicator& over = program_.communicators[exchange->communicator];
        for (const Message& message : exchange->messages) {
          if (!message.sends) continue;
          const std::pair<int, int> ends = ends_of(over, rank, message);
          Channel& channel = channels_[{exchange->communicator, ends.first, ends.second}];
          cluster_.schedules().of(plan_of(over, ends, channel, message.bytes, stream));
        }
      }
    }
  }
}

CollectiveRun& MessageRuns::next(CommunicatorId communicator, int rank, const Message& message,
                                 std::size_t stream) {
  const Communicator& over = program_.communicators[communicator];
  const std::pair<int, int> ends = ends_of(over, rank, message);
  Channel& channel = channels_[{communicator, ends.first, ends.second}];
  const std::size_t number = message.sends ? channel.sent++ : channel.received++;
  if (number == channel.runs.size())
    channel.runs.push_back(make_collective(cluster_, plan_of(over, ends, channel, message.bytes, stream)));
  return *channel.runs[number];
}

}  // namespace c3::workloads
