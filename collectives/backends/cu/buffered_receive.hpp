#pragma once
/// The receiver's part in a message that its sender has put, or will put, into the library's buffer.

#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "collectives/collective_run.hpp"
#include "collectives/library/channel_protocol.hpp"

namespace c3::inline collectives {

/// As many channels as the sender has wait on CUs of the receiver until the message is in its buffer, and copy
/// it out: what comes while they are there as it comes, so that the last chunk is left when all has come. What
/// has come before is read and written at HBM, at local_rate a channel. Wrong when: the library lets fewer
/// channels wait.
class BufferedReceive final : public CollectiveRun {
 public:
  /// \p plan has a buffered message.
  BufferedReceive(Cluster& cluster, CollectivePlan plan);

 private:
  struct Grid final : DispatchClient {
    Grid(BufferedReceive& o, int r) : owner(&o), rank(r) {}
    void on_placed(int xcd, std::span<const int> cus) override { owner->place(*this, xcd, cus); }
    BufferedReceive* owner;
    int rank;
    std::vector<std::pair<int, int>> channels;  ///< XCD and CU
    ActivityId holding = kNoActivity;
  };

  void start(int rank) override;
  void place(Grid& grid, int xcd, std::span<const int> cus);
  Task receive();
  void release();

  WorkGroupNeeds needs_;
  ChannelProtocol protocol_;
  std::deque<Grid> grids_;  ///< by simulated receiver
  int unplaced_;            ///< channels, of all grids
};

}  // namespace c3::collectives
