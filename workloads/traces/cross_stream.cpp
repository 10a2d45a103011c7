#include "workloads/traces/cross_stream.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

namespace c3 { inline namespace traces {
namespace {

// Both bounds are those that refute or confirm edges in public traces (NCCL and RCCL, 2022 to 2025).
constexpr Picoseconds kClockError = 2_us;
constexpr Picoseconds kStartsBehind = 25_us;

class EdgeFinder {
 public:
  explicit EdgeFinder(const RankRecord& rank)
      : rank_(rank),
        is_collective_(rank.trace.activities.size(), false),
        has_collectives_(rank.trace.queues.size(), false) {
    for (const CollectiveKernel& kernel : rank.collectives) {
      is_collective_[kernel.activity] = true;
      has_collectives_[activity(kernel.activity).track] = true;
    }
  }

  std::vector<CrossStreamEdge> find() {
    recorded();
    by_sequence();
    inferred();
    return std::move(edges_);
  }

 private:
  const TraceEvent& activity(std::uint32_t index) const { return rank_.trace.activities[index]; }

  void add(std::uint32_t source, std::uint32_t destination, EdgeProvenance provenance) {
    if (source == kNoIndex || destination == kNoIndex || source == destination) return;
    if (activity(source).track == activity(destination).track) return;  // in order without it
    if (!known_.emplace(source, destination).second) return;
    if (provenance != EdgeProvenance::issue) waits_.insert(destination);
    edges_.push_back({.source = source, .destination = destination, .provenance = provenance});
  }

  // ---- recorded

  std::uint32_t queue_of_stream(std::int64_t stream) const {
    const auto& queues = rank_.trace.queues;
    const auto found = std::ranges::find(queues, stream, &GpuQueue::stream);
    return found == queues.end() ? kNoIndex : static_cast<std::uint32_t>(found - queues.begin());
  }

  void recorded() {
    std::unordered_map<std::int64_t, std::uint32_t> calls;
    for (std::uint32_t call = 0; call < rank_.trace.calls.size(); ++call)
      calls.emplace(rank_.trace.calls[call].correlation, call);
    for (const TraceEvent& sync : rank_.trace.syncs) {
      if (rank_.trace.name_of(sync) != "Stream Wait Event") continue;
      const SyncDetails& details = rank_.trace.sync_details[sync.details];
      const auto record = calls.find(details.record_correlation);
      const auto wait = calls.find(sync.correlation);
      const std::uint32_t from = queue_of_stream(details.waited_stream);
      const std::uint32_t to = queue_of_stream(details.stream);
      if (details.record_correlation == kUnknown || record == calls.end() || wait == calls.end() ||
          from == kNoIndex || to == kNoIndex)
        continue;
      add(rank_.order.last_before(from, rank_.trace.calls[record->second].start),
          rank_.order.first_from(to, rank_.trace.calls[wait->second].start), EdgeProvenance::recorded);
    }
  }

  // ---- by sequence number

  /// Other queues of the same GPU that have no collectives.
  std::vector<std::uint32_t> compute_queues(std::uint32_t collective) const {
    std::vector<std::uint32_t> queues;
    const std::uint32_t own = activity(collective).track;
    for (std::uint32_t queue = 0; queue < rank_.trace.queues.size(); ++queue) {
      const bool same_gpu = rank_.trace.queues[queue].device == rank_.trace.queues[own].device;
      if (queue != own && same_gpu && !has_collectives_[queue]) queues.push_back(queue);
    }
    return queues;
  }

  /// The work launched last before \p date on any of \p queues.
  std::uint32_t last_before(const std::vector<std::uint32_t>& queues, Picoseconds date) const {
    std::uint32_t last = kNoIndex;
    for (const std::uint32_t queue : queues) {
      const std::uint32_t found = rank_.order.last_before(queue, date);
      if (found != kNoIndex && (last == kNoIndex || rank_.order.launched(last) < rank_.order.launched(found)))
        last = found;
    }
    return last;
  }

  std::uint32_t first_from(const std::vector<std::uint32_t>& queues, Picoseconds date) const {
    std::uint32_t first = kNoIndex;
    for (const std::uint32_t queue : queues) {
      const std::uint32_t found = rank_.order.first_from(queue, date);
      if (found != kNoIndex && (first == kNoIndex || rank_.order.launched(found) < rank_.order.launched(first)))
        first = found;
    }
    return first;
  }

  void by_sequence() {
    std::unordered_map<std::int64_t, std::uint32_t> latest;  // collective kernel of a sequence number
    std::unordered_map<std::uint32_t, std::uint32_t> kernel_of_issue;
    for (std::uint32_t i = 0; i < rank_.collectives.size(); ++i)
      kernel_of_issue.emplace(rank_.collectives[i].issue, i);
    for (std::uint32_t i = 0; i < rank_.issues.size(); ++i) {
      const CollectiveIssue& issue = rank_.issues[i];
      const TraceEvent& op = rank_.trace.ops[issue.op];
      if (!issue.is_wait) {
        const auto kernel = kernel_of_issue.find(i);
        if (issue.sequence) latest.erase(*issue.sequence);
        if (kernel == kernel_of_issue.end()) continue;
        const std::uint32_t collective = rank_.collectives[kernel->second].activity;
        if (issue.sequence) latest.emplace(*issue.sequence, collective);
        if (issue.sequence)
          add(last_before(compute_queues(collective), op.start), collective, EdgeProvenance::issue);
      } else if (issue.sequence) {
        const auto waited = latest.find(*issue.sequence);
        if (waited == latest.end()) continue;  // it launched nothing, or before the window
        add(waited->second, first_from(compute_queues(waited->second), op.start), EdgeProvenance::wait);
      }
    }
  }

  // ---- inferred

  bool is_consistent(std::uint32_t source, std::uint32_t destination) const {
    return source != kNoIndex && activity(source).end() <= activity(destination).start + kClockError;
  }

  /// The consistent work of the given kind that was launched last before \p destination on another queue.
  /// \param further whether to look at what was launched before inconsistent work
  std::uint32_t source_for(std::uint32_t destination, bool collective, bool further = false) const {
    std::uint32_t best = kNoIndex;
    for (std::uint32_t queue = 0; queue < rank_.trace.queues.size(); ++queue) {
      if (queue == activity(destination).track) continue;
      std::uint32_t last = rank_.order.last_before(queue, rank_.order.launched(destination));
      while (further && last != kNoIndex && !is_consistent(last, destination))
        last = rank_.order.predecessor(last);
      if (last == kNoIndex || is_collective_[last] != collective || !is_consistent(last, destination)) continue;
      if (best == kNoIndex || rank_.order.launched(best) < rank_.order.launched(last)) best = last;
    }
    return best;
  }

  void infer(std::uint32_t destination) {
    if (is_collective_[destination]) {
      add(source_for(destination, false), destination, EdgeProvenance::inferred);
      return;
    }
    const std::uint32_t collective = source_for(destination, true);
    add(collective != kNoIndex ? collective : source_for(destination, false), destination,
        EdgeProvenance::inferred);
  }

  bool is_stream_wait(const TraceEvent& call) const {
    const std::string& name = rank_.trace.name_of(call);
    return name.find("StreamWaitEvent") != std::string::npos;
  }

  /// What each thread launches next after a call of cudaStreamWaitEvent.
  std::set<std::uint32_t> launched_behind_waits() const {
    std::vector<std::vector<std::uint32_t>> launched(rank_.trace.calls.size());
    for (std::uint32_t i = 0; i < rank_.trace.activities.size(); ++i) {
      if (rank_.join.launch_of[i] != kNoIndex) launched[rank_.join.launch_of[i]].push_back(i);
    }
    std::set<std::uint32_t> behind;
    std::vector<bool> waiting(rank_.trace.threads.size(), false);
    for (std::uint32_t call = 0; call < rank_.trace.calls.size(); ++call) {
      const std::uint32_t thread = rank_.trace.calls[call].track;
      if (is_stream_wait(rank_.trace.calls[call])) waiting[thread] = true;
      if (launched[call].empty()) continue;
      if (waiting[thread]) behind.insert(launched[call].begin(), launched[call].end());
      waiting[thread] = false;
    }
    return behind;
  }

  /// Whether synchronisation was recorded and, if any stream waited, for what.
  bool has_complete_records() const {
    const auto waits = [&](const TraceEvent& sync) { return rank_.trace.name_of(sync) == "Stream Wait Event"; };
    const bool names_any = std::ranges::any_of(rank_.trace.sync_details, [](const SyncDetails& details) {
      return details.record_correlation != kUnknown;
    });
    return names_any || (!rank_.trace.syncs.empty() && std::ranges::none_of(rank_.trace.syncs, waits));
  }

  void inferred() {
    if (has_complete_records()) return;  // what is not recorded is not there
    const bool has_waits =
        std::ranges::any_of(rank_.trace.calls, [&](const TraceEvent& call) { return is_stream_wait(call); });
    if (has_waits) {
      for (const std::uint32_t destination : launched_behind_waits()) {
        if (!waits_.contains(destination)) infer(destination);
      }
      return;
    }
    for (std::uint32_t i = 0; i < rank_.trace.activities.size(); ++i) {
      if (rank_.join.launch_of[i] == kNoIndex) continue;
      if (is_collective_[i]) infer(i);
      const std::uint32_t source = is_collective_[i] ? kNoIndex : source_for(i, true, true);
      if (source != kNoIndex && activity(i).start <= activity(source).end() + kStartsBehind)
        add(source, i, EdgeProvenance::inferred);
    }
  }

  const RankRecord& rank_;
  std::vector<bool> is_collective_;    ///< [activities]
  std::vector<bool> has_collectives_;  ///< [queues]
  std::vector<CrossStreamEdge> edges_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> known_;
  std::set<std::uint32_t> waits_;  ///< activities that are known to wait for another stream
};

}  // namespace

std::vector<CrossStreamEdge> cross_stream_edges(const RankRecord& rank) { return EdgeFinder(rank).find(); }

}}  // namespace c3::traces
