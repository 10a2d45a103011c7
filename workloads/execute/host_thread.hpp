#pragma once
/// The host of one rank: launches operations of all streams in one order, ahead of its GPU.

#include <string>
#include <vector>

#include "engine/event.hpp"
#include "workloads/execute/event_table.hpp"
#include "workloads/program/program.hpp"

namespace c3::inline workloads {

enum class HostOrder {
  by_queue,    ///< operations of a hardware queue start one after another
  one_by_one,  ///< all operations of all streams run one after another
};

/// Takes HostStep::cost for each launch, and waits where a stream's launch queue is full or the program waits
/// for an event. An operation may start when it is launched and all that its hardware queue got before it has
/// started. Wrong when: several threads launch for one GPU (autograd has one of its own, which the forward
/// pass' thread waits for).
class HostThread {
 public:
  /// \p script, which has a host, and \p events must outlive it. It begins at date \p start.
  HostThread(Simulation& simulation, const Script& script, HostOrder order, EventTable& events, int rank,
             Seconds start);

  const std::string& name() const { return name_; }

  Task run();
  /// Waits until \p operation of \p stream may start.
  Task turn(std::size_t stream, std::size_t operation);
  /// It has started: the next of its hardware queue may.
  void started(std::size_t stream);
  void ended(std::size_t stream);
  /// Date at which the operation that has its turn was launched.
  Seconds launched(std::size_t stream, std::size_t operation) const {
    return streams_[stream].launched[operation];
  }

 private:
  struct Stream {
    std::size_t queue = 0;
    std::vector<std::size_t> number = {};  ///< by operation: in its hardware queue
    std::vector<Seconds> launched = {};    ///< dates
    int ended = 0;
    Event* waiting = nullptr;  ///< of the operation that waits for its turn
  };

  void advance(std::size_t queue);
  bool has_turn(std::size_t stream, std::size_t operation) const;
  void wake(std::size_t stream);

  Simulation& simulation_;
  const HostProgram& program_;
  HostOrder order_;
  EventTable& events_;
  std::string name_;
  Seconds start_;
  std::vector<Stream> streams_;
  std::vector<std::size_t> started_;  ///< by hardware queue
  Event* room_ = nullptr;             ///< for which the host waits
  std::size_t full_ = 0;              ///< stream that has none
};

}  // namespace c3::workloads
