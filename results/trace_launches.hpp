#pragma once
/// The host of one rank in a trace: its calls of the CUDA runtime, in the operators of PyTorch that make them.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/observer.hpp"
#include "results/trace_file.hpp"
#include "workloads/execute/launch_observer.hpp"
#include "workloads/program/program.hpp"

namespace c3 { inline namespace results {

/// Knows which operation of the rank an activity is, and when its host launched that. An activity is the next
/// operation of its kind on its stream, because the operations of a stream begin in their order.
class TraceLaunches {
 public:
  /// \p program outlives it. \param process of the host in the trace \param lead date 0 of the run in the
  /// trace; no launch takes longer, unless its queue is full [ps]
  TraceLaunches(const Program& program, int rank, int process, std::int64_t lead);

  void launched(const HostLaunch& launch);

  /// The next operation of \p stream that makes such an activity. \param name of a collective's
  std::size_t next_kernel(int stream);
  std::size_t next_wait(int stream);
  std::size_t next_communication(int stream, std::string_view name);

  /// An activity of operation \p index of \p stream has begun: \p device and \p start [ps, in the trace] of its
  /// slice. What has no call here is launched by something else.
  void started(int stream, std::size_t index, ActivityId activity, TraceTrack device, std::int64_t start);

  /// The call that records an event; absent: no stream does.
  struct Record {
    std::int64_t correlation = 0;
    std::size_t stream = 0;
  };
  std::optional<Record> record_of(EventId event) const { return records_[event]; }
  /// The number of a call that records an event or waits for one. Activities have lower numbers.
  std::int64_t correlation_of(std::size_t stream, std::size_t index) const;

  /// Writes all calls, in the order of launches. \returns the end of the last one [ps, in the trace]
  std::int64_t write(TraceFile& file) const;

 private:
  struct Call {
    OperationPlace place;
    std::size_t thread = 0;
    std::int64_t came = 0, at = 0;    ///< [ps, of the run]
    std::int64_t begin = 0, end = 0;  ///< [ps, in the trace]
    ActivityId activity = kNoActivity;
    TraceTrack device = {};
    std::int64_t start = 0;  ///< start of the activity's slice [ps, in the trace]
  };

  const Operation& operation(OperationPlace place) const {
    return script_.streams[place.stream][place.operation];
  }
  template <class Matches>
  std::size_t next(std::vector<std::size_t>& from, int stream, Matches matches);
  std::vector<Call> with_dates() const;
  void write(TraceFile& file, const Call& call) const;

  const Program& program_;
  const Script& script_;
  int process_;
  std::int64_t lead_;
  std::vector<Call> calls_;                           ///< sorted by launch
  std::vector<std::vector<std::size_t>> first_call_;  ///< [stream][operation]: position in calls_
  std::vector<std::size_t> next_kernel_, next_wait_, next_communication_;  ///< per stream: operations
  std::vector<std::size_t> messages_begun_;                                ///< per stream: the next exchange
  std::vector<std::size_t> operations_before_;                             ///< per stream
  std::vector<std::optional<Record>> records_;                             ///< indexed by event
};

}}  // namespace c3::results
