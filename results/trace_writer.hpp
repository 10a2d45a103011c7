#pragma once
/// One strategy's simulation as trace files, one for each simulated rank: kernels, collectives and waits on a
/// track for each stream, copies on a track for each copy engine, launches on the host's tracks, use of
/// resources as counters; ranges enclose what is in them. Work groups, channels and the transfers of CU
/// collectives overlap each other: they are in the HDF5 file only.
///
/// HolisticTraceAnalysis (hta/common/trace.py, hta/analyzers at commit 0935ba35) pairs each kernel and copy
/// with one launch by `correlation`, knows launches by their names in the CUDA runtime, wants them to last
/// and to begin before the kernel does, counts streams above 0 only, and takes its window out of
/// `ProfilerStep#N`. So every launch is a slice that ends when its host made it, and date 0 of the run is
/// kLaunchLead in the trace.
///
/// What `c3sim import` needs to simulate the run again is written as PyTorch's profiler writes it with
/// `record_shapes` and synchronisation events: operators with shapes around launches, arguments of collectives,
/// which event each wait waits for.

#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/observer.hpp"
#include "results/moved_bytes.hpp"
#include "results/trace_file.hpp"
#include "results/trace_labels.hpp"
#include "results/trace_launches.hpp"
#include "workloads/execute/launch_observer.hpp"
#include "workloads/experiment.hpp"

namespace c3 { inline namespace results {

class TraceWriter : public Observer, public LaunchObserver {
 public:
  /// Date 0 of the run in the trace; no launch takes longer [ps].
  static constexpr std::int64_t kLaunchLead = 1'000'000;

  /// Makes \p folder/<strategy>/rank<r>.json under temporary names, which commit() replaces. \throws IoError
  TraceWriter(const std::filesystem::path& folder, const Experiment& experiment, const Strategy& strategy);

  /// Comes before the run that it observes. \param recorded what runs: the experiment, or a part of a training
  /// step \param shortened which part that is ("8 of 32 layers"); empty: all of it
  void begin(const Experiment& recorded, const std::string& shortened);

  void resource_added(ResourceId id, const ResourceInfo& info, double capacity) override;
  void capacity_changed(ResourceId, Seconds, double) override {}
  void activity_started(ActivityId id, const ActivityInfo& info, Seconds at) override;
  void activity_finished(ActivityId id, Seconds at) override;
  void depends(ActivityId, ActivityId, DependencyKind) override {}
  void rate_changed(ActivityId, Seconds, double) override {}
  void takes(ActivityId activity, ResourceId resource, double amount) override {
    moved_.takes(activity, resource, amount);
  }
  void utilisation(ResourceId id, Seconds at, double used) override;
  void launched(const HostLaunch& launch) override;

  void finish();  ///< writes what is still buffered. \throws IoError
  void commit();  ///< moves the files to their places. \throws IoError

 private:
  struct HeldSlice {
    TraceTrack track;
    std::string name;
    const char* category;
    std::int64_t start, end;
    std::string args;
    TraceSlice view() const { return {track, name, category, start, end, args}; }
  };
  struct OpenActivity {
    std::string name;
    ActivityKind kind;
    int gpu, stream, engine;
    ActivityId parent;
    std::int64_t start;
    Bytes bytes;
    Flops flops;
    std::int64_t work_groups;
    std::size_t operation = 0;  ///< position in its stream; not for transfers and ranges
    /// For a range: what it encloses. The range stands before its slices in the file, since viewers take the
    /// first of several slices that begin together for the outer one.
    std::vector<HeldSlice> held = {};
  };
  struct Counter {
    std::string name;  ///< empty: not shown
    int gpu = -1;
    double scale = 1;
    /// Date of `used`, which is written when time moves on: the last of equal dates holds.
    std::int64_t at = 0;
    double used = 0;
    double written = -1;  ///< last value in the file
  };

  TraceFile& file_of(int gpu) { return *files_.at(static_cast<std::size_t>(simulated_.class_of(gpu))); }
  TraceLaunches& launches_of(int gpu) {
    return launches_.at(static_cast<std::size_t>(simulated_.class_of(gpu)));
  }
  /// Writes the launch of a copy, which lasts up to the copy's start.
  void write_copy_launch(ActivityId id, const OpenActivity& activity);
  void write_wait(const OpenActivity& activity, std::int64_t end);
  void write_synchronisation(int number, std::int64_t launched);
  const CollectiveLabel& label_of(const OpenActivity& activity) const;
  const Operation& operation_of(const OpenActivity& activity) const;
  bool is_of_copy_engines(const OpenActivity& activity) const;
  void write_step(Counter& counter);
  /// Now, or after the range that \p activity is a part of.
  void write_slice(const OpenActivity& activity, HeldSlice slice);
  TraceTrack track_of(const OpenActivity& activity);

  Experiment experiment_;
  Strategy strategy_;
  RankPartition simulated_;
  std::string shortened_;
  std::vector<std::unique_ptr<TraceFile>> files_;  ///< one per class of ranks
  std::deque<TraceLaunches> launches_;             ///< one per class of ranks
  std::map<std::pair<int, std::int64_t>, std::int64_t>
      launched_;          ///< end of the last launch of a copy, by track [ps]
  std::int64_t end_ = 0;  ///< end of the last slice
  std::map<std::pair<int, std::string>, CollectiveLabels> labels_;  ///< keyed by stream and operation
  std::vector<CollectiveLabel> message_labels_;                     ///< indexed by stream
  std::set<std::pair<int, int>> named_engines_;                     ///< rank and engine whose track has a name
  std::unordered_map<ActivityId, OpenActivity> open_;               ///< activities that become slices
  MovedBytesAccount moved_;
  std::vector<Counter> counters_;  ///< indexed by ResourceId
};

}}  // namespace c3::results
