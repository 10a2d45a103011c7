#include "workloads/analysis/isolated_schedule.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>

namespace c3 { inline namespace workloads {
namespace {

/// One stream, as far as it has come.
struct StreamState {
  std::size_t at = 0;
  Seconds date;
};

class Scheduler {
 public:
  Scheduler(const Program& program, const Script& script, const std::vector<std::vector<Seconds>>& lasts)
      : program_(program),
        script_(script),
        lasts_(lasts),
        streams_(script.streams.size()),
        recorded_(script.events.size()) {}

  IsolatedSchedule run() {
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      for (std::size_t stream = 0; stream < streams_.size(); ++stream)
        goes_on |= advance(stream);
    }
    IsolatedSchedule done;
    for (std::size_t stream = 0; stream < streams_.size(); ++stream) {
      if (streams_[stream].at < script_.streams[stream].size())
        throw std::invalid_argument("stream '" + program_.streams[stream] + "' waits for an event for ever");
      done.time = std::max(done.time, streams_[stream].date);
    }
    done.times = step_breakdown(timed_, done.time);
    return done;
  }

 private:
  /// As far as events let it. \returns whether it has moved.
  bool advance(std::size_t stream) {
    StreamState& state = streams_[stream];
    const std::size_t before = state.at;
    while (state.at < script_.streams[stream].size() && step(stream, state))
      ++state.at;
    return state.at > before;
  }

  bool step(std::size_t stream, StreamState& state) {
    const Operation& operation = script_.streams[stream][state.at];
    if (const auto* wait = std::get_if<WaitEvent>(&operation.work)) {
      if (!recorded_[wait->event]) return false;
      state.date = std::max(state.date, *recorded_[wait->event]);
    } else if (const auto* record = std::get_if<RecordEvent>(&operation.work)) {
      recorded_[record->event] = state.date;
    } else {
      const Seconds begin = state.date;
      state.date += lasts_[stream][state.at];
      timed_.push_back({class_of(program_, operation), begin, state.date});
    }
    return true;
  }

  const Program& program_;
  const Script& script_;
  const std::vector<std::vector<Seconds>>& lasts_;
  std::vector<StreamState> streams_;
  std::vector<std::optional<Seconds>> recorded_;  ///< by event
  std::vector<TimedOperation> timed_;
};

}  // namespace

IsolatedSchedule schedule(const Program& program, const Script& script,
                          const std::vector<std::vector<Seconds>>& lasts) {
  return Scheduler(program, script, lasts).run();
}

}}  // namespace c3::workloads
