#pragma once
/// The messages of one run: what a rank sends meets what the other one receives.

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "collectives/collective_run.hpp"
#include "workloads/program/program.hpp"

namespace c3::inline workloads {

/// Each message is a collective of two ranks, of which one sends: libraries run them so (ncclSend, ncclRecv).
/// It is made when the first of the two comes.
class MessageRuns {
 public:
  using PlanOf = std::function<CollectivePlan(std::size_t stream, std::string name, CollectiveCall call)>;

  /// \p cluster and \p program must outlive it.
  MessageRuns(Cluster& cluster, const Program& program, PlanOf plan_of)
      : cluster_(cluster), program_(program), plan_of_(std::move(plan_of)) {}

  /// With classes of ranks: tells what all messages load.
  void plan_ahead();
  /// The run that \p rank joins for its next message of this kind with that peer, on \p stream.
  CollectiveRun& next(CommunicatorId communicator, int rank, const Message& message, std::size_t stream);

 private:
  /// From one rank to another.
  struct Channel {
    std::shared_ptr<const std::vector<std::vector<int>>> pairs;  ///< with classes of ranks: for which it stands
    std::deque<std::unique_ptr<CollectiveRun>> runs;             ///< in the order of messages
    std::size_t sent = 0, received = 0;
  };

  /// From the sender, or what stands for it, to its receiver.
  std::pair<int, int> ends_of(const Communicator& over, int rank, const Message& message) const;
  CollectivePlan plan_of(const Communicator& over, std::pair<int, int> ends, Channel& channel, Bytes bytes,
                         std::size_t stream) const;
  std::vector<std::vector<int>> pairs_of(const Communicator& over, std::pair<int, int> ends) const;

  Cluster& cluster_;
  const Program& program_;
  PlanOf plan_of_;
  std::map<std::tuple<CommunicatorId, int, int>, Channel> channels_;  ///< by communicator, source, target
};

}  // namespace c3::workloads
