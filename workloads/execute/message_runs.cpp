#include "workloads/execute/message_runs.hpp"

#include <fmt/format.h>

#include "base/joined_numbers.hpp"
#include "collectives/backends/entry.hpp"

namespace c3 { inline namespace workloads {

MessageRuns::MessageRuns(Cluster& cluster, const Program& program, PlanOf plan_of)
    : cluster_(cluster), program_(program), plan_of_(std::move(plan_of)) {
  if (!cluster.setup().classes) return;
  for (const MessageWay& way : message_ways(program))
    ways_.emplace(std::pair(way.communicator, way.offset), way_of(way));
}

// A class that sends to several, or receives from several, does so to all of them at the same dates.
MessageRuns::Way MessageRuns::way_of(const MessageWay& way) const {
  const RankGroups& groups = program_.communicators[way.communicator].groups;
  const RankPartition& classes = *cluster_.setup().classes;
  const auto sender = [&](int rank) { return static_cast<std::size_t>(classes.class_of(rank)); };
  const auto receiver = [&](int rank) { return static_cast<std::size_t>(classes.classes()) + sender(rank); };
  JoinedNumbers joined(2 * static_cast<std::size_t>(classes.classes()));
  const auto for_each_pair = [&](const auto& visit) {
    for (int rank = 0; rank < classes.ranks(); ++rank) {
      if (way.sends[program_.script_number(rank)]) visit(rank, peer_of(groups, rank, way.offset));
    }
  };
  for_each_pair([&](int source, int target) { joined.join(sender(source), receiver(target)); });
  Way made;
  std::map<std::size_t, std::size_t> channels;  // by what their classes are joined to
  std::vector<std::vector<std::vector<int>>> pairs;
  for_each_pair([&](int source, int target) {
    const auto [found, is_new] = channels.try_emplace(joined.find(sender(source)), pairs.size());
    if (is_new) pairs.emplace_back();
    pairs[found->second].push_back({source, target});
    made.channel_from.emplace(classes.stand_in(source), static_cast<int>(found->second));
    made.channel_to.emplace(classes.stand_in(target), static_cast<int>(found->second));
  });
  for (auto& of_channel : pairs)
    made.pairs.push_back(std::make_shared<const std::vector<std::vector<int>>>(std::move(of_channel)));
  return made;
}

MessageRuns::Name MessageRuns::name_of(CommunicatorId communicator, int rank, const Message& message) const {
  const Communicator& over = program_.communicators[communicator];
  const int offset = offset_of(over, message);
  if (!cluster_.setup().classes)
    return {communicator, offset, message.sends ? rank : peer_of(over.groups, rank, message.offset)};
  const Way& way = ways_.at({communicator, offset});
  return {communicator, offset, (message.sends ? way.channel_from : way.channel_to).at(rank)};
}

const std::optional<MessageChannels>& MessageRuns::channels_over(CommunicatorId communicator, int rank) {
  const RankGroups& groups = program_.communicators[communicator].groups;
  const auto [found, is_new] = dealt_.try_emplace({communicator, group_number(groups, rank)});
  if (is_new) found->second = message_channels(cluster_.spec(), group_of(groups, rank));
  return found->second;
}

CollectivePlan MessageRuns::plan_of(const Name& name, Bytes bytes, std::size_t stream) {
  const auto [communicator, offset, channel] = name;
  const Communicator& over = program_.communicators[communicator];
  std::shared_ptr<const std::vector<std::vector<int>>> pairs;
  if (cluster_.setup().classes)
    pairs = ways_.at({communicator, offset}).pairs[static_cast<std::size_t>(channel)];
  const int source = pairs ? pairs->front()[0] : channel;
  const int target = peer_of(over.groups, source, offset);
  CollectiveCall call{.kind = CollectiveKind::all_to_all_v, .ranks = {source, target}};
  call.sends = {Bytes{}, bytes, Bytes{}, Bytes{}};
  CollectivePlan plan =
      plan_of_(stream, fmt::format("{} {} to {}", program_.names[over.name], source, target), std::move(call));
  plan.groups = std::move(pairs);
  if (const auto& dealt = channels_over(communicator, source); dealt && plan.backend == Backend::cu) {
    ChannelLimits& limits = plan.method.channels;
    const int most = std::max(limits.least, dealt->of(bytes));
    limits.most = limits.most > 0 ? std::min(limits.most, most) : most;
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
        for (const Message& message : exchange->messages) {
          if (message.sends)
            cluster_.schedules().of(
                plan_of(name_of(exchange->communicator, rank, message), message.bytes, stream));
        }
      }
    }
  }
}

CollectiveRun& MessageRuns::next(CommunicatorId communicator, int rank, const Message& message,
                                 std::size_t stream) {
  const Name name = name_of(communicator, rank, message);
  Channel& channel = channels_.try_emplace(name, cluster_.spec().library.pair_buffer).first->second;
  const std::size_t number = (message.sends ? channel.sent : channel.received)[rank]++;
  if (number == channel.meetings.size())
    add_meeting(channel, plan_of(name, message.bytes, stream), message.bytes);
  const Meeting& meeting = channel.meetings[number];
  if (!meeting.buffered) return *meeting.sender;
  if (message.sends) channel.buffer.ask(*meeting.buffered);
  return message.sends ? *meeting.sender : *meeting.receiver;
}

void MessageRuns::add_meeting(Channel& channel, const CollectivePlan& plan, Bytes bytes) {
  Meeting& meeting = channel.meetings.emplace_back();
  if (!is_buffered(plan.backend, bytes, cluster_.spec().library)) {
    meeting.sender = make_collective(cluster_, plan);
    return;
  }
  meeting.buffered = std::make_unique<BufferedMessage>(cluster_.simulation(), channel.buffer, bytes, plan.name);
  CollectivePlan of_end = plan;
  of_end.buffered = meeting.buffered.get();
  of_end.end = PairEnd::sender;
  meeting.sender = make_collective(cluster_, of_end);
  of_end.end = PairEnd::receiver;
  meeting.receiver = make_collective(cluster_, std::move(of_end));
}

}}  // namespace c3::workloads
