#pragma once
/// The receiver's part in a message that its sender has put, or will put, into the library's buffer.

#include <span>
#include <utility>
#include <vector>

#include "collectives/collective_run.hpp"
#include "collectives/library/channel_protocol.hpp"

namespace c3 { inline namespace collectives {

/// Channels of the receiver, as many as the sender has, wait on its CUs until the message is in its buffer, and
/// copy it out. Data that arrive while they wait are copied on arrival, so that only the last chunk is left at
/// the end. Data that arrived before are read and written at HBM, at local_rate a channel. Wrong when: the
/// library lets fewer channels wait.
class BufferedReceive final : public CollectiveRun, private DispatchClient {
 public:
  /// \p plan has a buffered message.
  BufferedReceive(Cluster& cluster, CollectivePlan plan);

 private:
  void start(int rank) override;
  void on_placed(int xcd, std::span<const int> cus) override;
  Task receive();
  /// What was in the buffer before the channels came. It ends with the last slices or later.
  FlowSpec copy_flow(const LocalCopy& copy, Seconds last, std::vector<Demand>& demands) const;
  void release();

  int rank_;
  WorkGroupNeeds needs_;
  ChannelProtocol protocol_;
  std::vector<std::pair<int, int>> channels_;  ///< XCD and CU of those that are placed
  ActivityId holding_ = kNoActivity;
};

}}  // namespace c3::collectives
