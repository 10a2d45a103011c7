#include "workloads/traces/host_waits.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/statistics.hpp"

namespace c3 { inline namespace traces {
namespace {

constexpr Picoseconds kClockError = 2_us;           // of GPU dates against those of the host
constexpr Picoseconds kAllocationReturns = 100_us;  // observed after the GPU had become idle, ROCm and CUDA
constexpr Picoseconds kWaitReturns = 11_us;         // the longest return from a wait observed on server hosts
constexpr std::int64_t kSlowLaunch = 10;            // times the median launch
constexpr Picoseconds kLongestLaunch = 30_us;       // latency on an idle stream, observed on a workstation

bool has(std::string_view name, std::string_view word) { return name.find(word) != std::string_view::npos; }

class WaitFinder {
 public:
  WaitFinder(const Trace& trace, const TraceJoin& join, const LaunchOrder& order)
      : trace_(trace), join_(join), order_(order), owned_(trace.calls.size()) {
    for (std::uint32_t i = 0; i < trace.activities.size(); ++i) {
      if (join.launch_of[i] != kNoIndex) owned_[join.outer_call[join.launch_of[i]]].push_back(i);
    }
    for (const TraceEvent& sync : trace.syncs)
      records_.emplace(sync.correlation, &trace.sync_details[sync.details]);
    for (std::uint32_t call = 0; call < trace.calls.size(); ++call)
      calls_.emplace(trace.calls[call].correlation, call);
  }

  std::vector<HostWait> find() {
    const Picoseconds slow = slow_launch();
    for (std::uint32_t call = 0; call < trace_.calls.size(); ++call) {
      const std::uint32_t outer = join_.outer_call[call];
      const std::string_view name = trace_.name_of(trace_.calls[call]);
      if (has(name, "DeviceSynchronize") || has(name, "CtxSynchronize")) {
        for (std::uint32_t queue = 0; queue < order_.queues(); ++queue)
          add(outer, last_ended(queue, call), WaitReason::device, false);
      } else if (has(name, "StreamSynchronize")) {
        stream_wait(call, WaitReason::stream);
      } else if (has(name, "EventSynchronize")) {
        stream_wait(call, WaitReason::event);
      } else if (outer != call) {
        continue;
      } else if (has(name, "Memcpy")) {
        blocking_copy(call);
      } else if (has(name, "Malloc") || has(name, "Free")) {
        allocation(call);
      } else if (!owned_[call].empty() && trace_.calls[call].duration > slow) {
        full_queue(call);
      }
    }
    return std::move(waits_);
  }

 private:
  const TraceEvent& activity(std::uint32_t index) const { return trace_.activities[index]; }

  /// What a call launches as it returns cannot hold it up.
  bool is_launched_at_end_of(std::uint32_t call, std::uint32_t source) const {
    const std::uint32_t launch = join_.launch_of[source];
    return launch != kNoIndex && join_.outer_call[launch] == call &&
           launches_at_its_end(trace_.calls[call], activity(source));
  }

  void add(std::uint32_t call, std::uint32_t source, WaitReason reason, bool is_recorded) {
    if (source == kNoIndex || is_launched_at_end_of(call, source)) return;
    waits_.push_back({.call = call, .activity = source, .reason = reason, .is_recorded = is_recorded});
  }

  /// The last work on \p queue that was launched before \p call and had ended when it returned.
  std::uint32_t last_ended(std::uint32_t queue, std::uint32_t call) const {
    std::uint32_t last = order_.last_before(queue, trace_.calls[call].start);
    while (last != kNoIndex && activity(last).end() > trace_.calls[call].end() + kClockError)
      last = order_.predecessor(last);
    return last;
  }

  void stream_wait(std::uint32_t call, WaitReason reason) {
    const std::uint32_t outer = join_.outer_call[call];
    if (const auto record = records_.find(trace_.calls[call].correlation); record != records_.end()) {
      const std::uint32_t source = recorded_source(*record->second, call);
      if (source != kNoIndex) return add(outer, source, reason, true);
    }
    std::uint32_t latest = kNoIndex;
    for (std::uint32_t queue = 0; queue < order_.queues(); ++queue) {
      const std::uint32_t last = last_ended(queue, call);
      if (last != kNoIndex && (latest == kNoIndex || activity(latest).end() < activity(last).end()))
        latest = last;
    }
    add(outer, latest, reason, false);
  }

  std::uint32_t recorded_source(const SyncDetails& record, std::uint32_t call) const {
    const bool is_event = record.record_correlation != kUnknown;
    const std::int64_t stream = is_event ? record.waited_stream : record.stream;
    const auto queue = std::ranges::find(trace_.queues, stream, &GpuQueue::stream);
    if (stream == kUnknown || queue == trace_.queues.end()) return kNoIndex;
    const auto place = static_cast<std::uint32_t>(queue - trace_.queues.begin());
    if (!is_event) return last_ended(place, call);
    const auto record_call = calls_.find(record.record_correlation);
    return record_call == calls_.end() ? kNoIndex
                                       : order_.last_before(place, trace_.calls[record_call->second].start);
  }

  void blocking_copy(std::uint32_t call) {
    for (const std::uint32_t copy : owned_[call]) {
      if (activity(copy).end() <= trace_.calls[call].end()) add(call, copy, WaitReason::copy, false);
    }
  }

  /// Work launched before that is still running when the call returns shows that it did not wait.
  void allocation(std::uint32_t call) {
    std::uint32_t latest = kNoIndex;
    for (std::uint32_t queue = 0; queue < order_.queues(); ++queue) {
      const std::uint32_t last = order_.last_before(queue, trace_.calls[call].start);
      if (last != kNoIndex && (latest == kNoIndex || activity(latest).end() < activity(last).end()))
        latest = last;
    }
    if (latest == kNoIndex) return;
    const Picoseconds after = trace_.calls[call].end() - activity(latest).end();
    if (after >= Picoseconds{-kClockError.count} && after <= kAllocationReturns)
      add(call, latest, WaitReason::allocation, false);
  }

  Picoseconds slow_launch() const {
    std::vector<Picoseconds> lengths;
    for (std::uint32_t call = 0; call < owned_.size(); ++call) {
      if (!owned_[call].empty()) lengths.push_back(trace_.calls[call].duration);
    }
    if (lengths.empty()) return {};
    return {upper_median(std::move(lengths)).count * kSlowLaunch};
  }

  void full_queue(std::uint32_t call) {
    const Picoseconds end = trace_.calls[call].end();
    const std::uint32_t launched = owned_[call].front();
    std::uint32_t earlier = order_.predecessor(launched);
    while (earlier != kNoIndex && activity(earlier).end() > end + kClockError)
      earlier = order_.predecessor(earlier);
    if (earlier == kNoIndex || activity(earlier).end() + kWaitReturns < end) return;
    if (activity(earlier).end() <= trace_.calls[call].start) return;
    add(call, earlier, WaitReason::full_queue, false);
  }

  const Trace& trace_;
  const TraceJoin& join_;
  const LaunchOrder& order_;
  std::vector<std::vector<std::uint32_t>> owned_;  ///< [calls] what the outermost calls launched
  std::unordered_map<std::int64_t, const SyncDetails*> records_;
  std::unordered_map<std::int64_t, std::uint32_t> calls_;
  std::vector<HostWait> waits_;
};

}  // namespace

bool launches_at_its_end(const TraceEvent& call, const TraceEvent& work) {
  return call.duration > kLongestLaunch && call.end() <= work.start + kClockError;
}

std::vector<HostWait> host_waits(const Trace& trace, const TraceJoin& join, const LaunchOrder& order) {
  return WaitFinder(trace, join, order).find();
}

}}  // namespace c3::traces
