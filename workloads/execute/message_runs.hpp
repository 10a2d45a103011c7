#pragma once
/// The messages of one run: what a rank sends meets what the other one receives.

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "collectives/collective_run.hpp"
#include "collectives/library/message_channels.hpp"
#include "workloads/program/message_ways.hpp"
#include "workloads/program/program.hpp"

namespace c3 { inline namespace workloads {

/// Each message is a collective of two ranks, of which one sends: libraries run them so (ncclSend, ncclRecv).
/// It is made when the first of the two comes. Both begin and end together unless the message goes on channels
/// and fits into the library's buffer of the pair: then each end has a run of its own.
class MessageRuns {
 public:
  using PlanOf = std::function<CollectivePlan(std::size_t stream, std::string name, CollectiveCall call)>;

  /// \p cluster and \p program must outlive it.
  MessageRuns(Cluster& cluster, const Program& program, PlanOf plan_of);

  /// With classes of ranks: tells what all messages load.
  void plan_ahead();
  /// The run that \p rank joins for its next message of this kind with that peer, on \p stream.
  CollectiveRun& next(CommunicatorId communicator, int rank, const Message& message, std::size_t stream);

 private:
  /// Where messages of one way go: of what is simulated, from whom to whom.
  struct Way {
    std::map<int, int> channel_from, channel_to;  ///< by simulated rank that sends, or receives
    /// By channel, with classes of ranks: all pairs of sender and receiver, those that begin and end together.
    std::vector<std::shared_ptr<const std::vector<std::vector<int>>>> pairs;
  };
  struct Meeting {
    std::unique_ptr<BufferedMessage> buffered;        ///< null: a rendezvous
    std::unique_ptr<CollectiveRun> sender, receiver;  ///< of a rendezvous the first is of both
  };
  /// From one rank to another, or from classes to others.
  struct Channel {
    explicit Channel(Bytes size) : buffer(size) {}
    MessageBuffer buffer;
    std::deque<Meeting> meetings;               ///< in the order of messages
    std::map<int, std::size_t> sent, received;  ///< by simulated rank
  };
  using Name = std::tuple<CommunicatorId, int, int>;  ///< communicator, offset, and the sender or, with
                                                      ///< classes, the channel of the way

  Way way_of(const MessageWay& way) const;
  Name name_of(CommunicatorId communicator, int rank, const Message& message) const;
  CollectivePlan plan_of(const Name& name, Bytes bytes, std::size_t stream);
  const std::optional<MessageChannels>& channels_over(CommunicatorId communicator, int rank);
  void add_meeting(Channel& channel, const CollectivePlan& plan, Bytes bytes);

  Cluster& cluster_;
  const Program& program_;
  PlanOf plan_of_;
  std::map<std::pair<CommunicatorId, int>, Way> ways_;  ///< by communicator and offset; with classes of ranks
  std::map<Name, Channel> channels_;
  std::map<std::pair<CommunicatorId, int>, std::optional<MessageChannels>>
      dealt_;  ///< by communicator and number of the group
};

}}  // namespace c3::workloads
