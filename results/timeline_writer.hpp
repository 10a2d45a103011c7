#pragma once
/// Streams one strategy's simulation into /strategies/<name> of a result file: what the observer hears becomes
/// rows.

#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/observer.hpp"
#include "results/buffer_tables.hpp"
#include "results/moved_bytes.hpp"
#include "results/recorded_tables.hpp"
#include "results/result_file.hpp"
#include "results/schema.hpp"
#include "workloads/analysis/study.hpp"

namespace c3 { inline namespace results {

class TimelineWriter : public Observer {
 public:
  /// \p file outlives the writer.
  TimelineWriter(ResultFile& file, const std::string& strategy);

  void resource_added(ResourceId id, const ResourceInfo& info, double capacity) override;
  void capacity_changed(ResourceId id, Seconds at, double capacity) override;
  void activity_started(ActivityId id, const ActivityInfo& info, Seconds at) override;
  void activity_finished(ActivityId id, Seconds at) override;
  void depends(ActivityId successor, ActivityId predecessor, DependencyKind kind) override;
  /// Rates are not stored: they would have as many rows as the solver has solves, and utilisation shows their
  /// effect.
  void rate_changed(ActivityId, Seconds, double) override {}
  void takes(ActivityId activity, ResourceId resource, double amount) override {
    moved_.takes(activity, resource, amount);
  }
  void utilisation(ResourceId id, Seconds at, double used) override;

  /// Writes what was recorded of the run that this one repeats.
  void add_recording(const PlacedRun& recording) { write_recorded(strategy_, recording, file_.names()); }
  /// Writes which tensors of what runs camp on channels of memory, where there are channels.
  void add_buffers(const Experiment& recorded) { write_buffers(strategy_, recorded, file_.names()); }
  /// Writes the collectives, the summary and what is still buffered.
  /// \throws std::logic_error when an activity never finished.
  void finish(const StrategyResult& result, std::span<const CollectiveRecord> collectives);

 private:
  struct OpenActivity {
    NameIndex name;
    ActivityKind kind;
    std::int32_t gpu, stream, engine;
    ActivityId parent;
    std::int64_t start;
    Bytes bytes;
    Flops flops;
    std::int64_t work_groups;
  };
  struct ResourceState {
    double used = 0;
    double capacity = 0;
    Seconds since = {};
    double total = 0;   ///< integral of use
    Seconds busy = {};  ///< how long it would have been in use at full capacity
    double written_used = 0;
    double written_capacity = 0;
    bool is_pending = false;  ///< whether it is one of pending_steps_
  };
  /// Written when they finish, so that only those in flight are held.
  struct ActivityTable {
    H5Id group;
    Column<std::int64_t> id{group, {"id", "1", "number of the activity, in order of start"}};
    Column<NameIndex> name{group, {"name", "1", "what runs"}};
    Column<ActivityKind> kind{group, {"kind", "1", "kind of activity"}};
    Column<std::int32_t> gpu{group, {"gpu", "1", "rank of the GPU, -1 on none"}};
    Column<std::int32_t> stream{group, {"stream", "1", "index of the stream in the experiment, -1 on none"}};
    Column<std::int32_t> engine{group, {"engine", "1", "copy engine of the GPU, -1 on none"}};
    Column<std::int64_t> parent{group, {"parent", "1", "id of the activity this is a part of, 0 for none"}};
    Column<std::int64_t> start{group, {"start", "ps", "start since the start of the run"}};
    Column<std::int64_t> end{group, {"end", "ps", "end since the start of the run"}};
    Column<double> bytes{group, {"bytes", "B", "payload, 0 for compute"}};
    Column<double> flops{group, {"flops", "flop", "work, 0 for copies"}};
    Column<std::int64_t> work_groups{group,
                                     {"work_groups", "1", "of a kernel or cohort; channels of a collective"}};
    Column<double> hbm_read{
        group, {"hbm_read", "B", "read from HBM by it and its parts; of a collective, on its GPU"}};
    Column<double> hbm_written{group, {"hbm_written", "B", "written to HBM, likewise"}};
    Column<double> l2{group, {"l2", "B", "requested from L2s and stored to them, likewise"}};
    Column<double> link{group, {"link", "B", "sent on links of the node, likewise"}};
    Column<double> nic{group, {"nic", "B", "sent through NICs, with what messages cost as bytes, likewise"}};
  };
  struct DependencyTable {
    H5Id group;
    Column<std::int64_t> successor{group, {"successor", "1", "id of the activity that waited"}};
    Column<std::int64_t> predecessor{group, {"predecessor", "1", "id of the activity it waited for"}};
    Column<DependencyKind> kind{group, {"kind", "1", "why it waited"}};
  };
  struct ResourceTable {
    H5Id group;
    Column<NameIndex> name{group, {"name", "1", "the resource; steps/resource are rows of this column"}};
    Column<NameIndex> unit{group, {"unit", "1", "of its capacity and use"}};
    Column<std::int32_t> gpu{group, {"gpu", "1", "rank of the GPU, -1 on none"}};
    Column<double> capacity{group, {"capacity", "see unit", "capacity at the start of the run"}};
    Column<double> total{group, {"total", "see unit, x s", "use summed over time: bytes of a bandwidth"}};
    Column<double> utilisation{group, {"utilisation", "1", "share of its capacity in use, in the mean"}};
  };
  struct StepTable {
    H5Id group;
    Column<std::int32_t> resource{group, {"resource", "1", "which resource", kResourceNames}};
    Column<std::int64_t> time{group, {"time", "ps", "from here on; of equal times the last row holds"}};
    Column<double> used{group, {"used", "see list/unit", "capacity in use", "", /*is_deflated=*/false}};
    Column<double> capacity{group, {"capacity", "see list/unit", "capacity there is"}};
  };

  /// The state of a resource that changes at \p at: what it was until then is summed up, and written.
  ResourceState& state_from(ResourceId id, Seconds at);
  void write_pending_steps();
  void write_collectives(std::span<const CollectiveRecord> collectives);

  ResultFile& file_;
  H5Id strategy_;
  ActivityTable activities_;
  DependencyTable dependencies_;
  H5Id resources_;
  ResourceTable resource_list_;
  StepTable steps_;
  std::unordered_map<ActivityId, OpenActivity> open_;
  MovedBytesAccount moved_;
  std::vector<ResourceState> resource_states_;  // indexed by ResourceId
  Seconds last_date_;                           // until which utilisation counts
  // What changed at the latest date, once a resource: only its last value of a date holds.
  std::vector<ResourceId> pending_steps_;
  std::int64_t pending_date_ = 0;  // ps
};

}}  // namespace c3::results
