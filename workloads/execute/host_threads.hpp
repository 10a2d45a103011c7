#pragma once
/// The host of one rank: threads that launch operations of all streams, ahead of its GPU.

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "engine/event.hpp"
#include "workloads/execute/event_table.hpp"
#include "workloads/execute/host_lateness.hpp"
#include "workloads/execute/launch_observer.hpp"
#include "workloads/execute/run_result.hpp"
#include "workloads/program/program.hpp"

namespace c3 { inline namespace workloads {

enum class HostOrder {
  by_queue,    ///< operations of a hardware queue start one after another
  one_by_one,  ///< all operations of all streams run one after another
};

/// Each thread takes HostStep::cost for each launch, and waits where a stream's launch queue is full or the
/// program waits for an event. An operation may start when it is launched and all that its hardware queue got
/// before it has started. What is launched before earlier operations of its stream, by another thread, enters
/// its queue after them. Wrong when: threads contend for a lock, as calls of CUDA do (what a recorded thread
/// lost there is part of its cost).
class HostThreads {
 public:
  /// \p program, \p script, which has a host, \p events and \p observer must outlive it. It begins at date \p
  /// start. \param lateness by thread: of it or, where the rank stands for others, of the latest of them
  /// \param observer nullptr: none
  HostThreads(Simulation& simulation, const Program& program, const Script& script, HostOrder order,
              EventTable& events, int rank, Seconds start, std::vector<HostLateness> lateness,
              LaunchObserver* observer = nullptr);

  /// Begins all threads.
  void spawn();
  /// Waits until \p operation of \p stream may start.
  Task turn(std::size_t stream, std::size_t operation);
  /// It has started: the next of its hardware queue may.
  void started(std::size_t stream);
  void ended(std::size_t stream);
  /// Date at which the operation that has its turn was launched.
  Seconds launched(std::size_t stream, std::size_t operation) const {
    return streams_[stream].launched[operation].value();
  }
  /// Dates of all steps that have a mark, in the order of time.
  const std::vector<HostMark>& marks() const { return marks_; }

 private:
  struct Stream {
    std::size_t queue = 0;
    std::vector<std::size_t> number = {};  ///< in its hardware queue, of the operations that are there
    std::vector<std::optional<Seconds>> launched = {};  ///< dates, by operation
    int launches = 0, ended = 0;
    Event* waiting = nullptr;  ///< of the operation that waits for its turn
  };
  /// A thread that waits for room.
  struct Full {
    Event* room;
    std::size_t stream;
  };

  Task run(std::size_t thread);
  void launch(OperationPlace place);
  void tell(std::size_t thread, OperationPlace place, Seconds came) const;
  bool is_full(const Stream& stream) const { return stream.launches - stream.ended >= program_.launch_queue; }
  void advance(std::size_t queue);
  bool has_turn(std::size_t stream, std::size_t operation) const;
  void wake(std::size_t stream);

  Simulation& simulation_;
  const Program& names_;
  const HostProgram& program_;
  HostOrder order_;
  EventTable& events_;
  int rank_;
  std::string name_;
  std::deque<std::string> thread_names_;
  Seconds start_;
  std::vector<HostLateness> lateness_;  ///< by thread
  LaunchObserver* observer_;
  std::vector<Stream> streams_;
  std::vector<std::size_t> enqueued_, started_;  ///< by hardware queue: how many
  std::vector<Full> full_;
  std::vector<HostMark> marks_;
};

}}  // namespace c3::workloads
