#pragma once
/// Which work of a recorded run a replay times by the model, and which as recorded.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collectives/call.hpp"
#include "gpu/spec.hpp"
#include "workloads/traces/replay/recorded_run.hpp"

namespace c3 { inline namespace traces {

/// What a replay is to model.
struct ReplayModel {
  std::vector<WorkClass> classes = {};  ///< their work is modelled where its operator is known; empty: none is
  const GpuSpec* gpu = nullptr;  ///< what it cannot run keeps its recorded time; nullptr: any operator runs
  int ranks = 0;                 ///< of the cluster; 0: as many as the recorded job had
};

/// The source of one piece of work's time.
enum class TimedBy : std::uint8_t {
  model,
  another,   ///< a modelled kernel's time includes it
  choice,    ///< the recording: its class is not to be modelled
  recording  ///< the recording: what it does is not known, or the GPU cannot do it
};

/// Decides for each piece of work of a run. Both outlive it.
class ReplayChoice {
 public:
  ReplayChoice(const RecordedRun& run, const ReplayModel& model);

  TimedBy of(const RecordedWork& work) const;
  bool is_modelled(const RecordedCollective& collective) const;

 private:
  bool has_class(WorkClass work) const;

  const RecordedRun& run_;
  const ReplayModel& model_;
  std::vector<bool> runs_;  ///< by operator
};

/// The collective as a call, if its kind and bytes are known and say how much each pair of ranks moves. A root
/// is not recorded: it is the first member. A rank that was recorded alone stands for all \p ranks of a cluster
/// (0: as many as its job had): they are in groups of neighbours, each of the recorded size, and exchange equal
/// shares in all-to-alls; nothing if they cannot be. Wrong when: the groups of a lone rank are not of
/// neighbours, as those of data parallelism beside tensor parallelism are not.
std::optional<CollectiveCall> specified_call(const RecordedRun& run, const RecordedCollective& collective,
                                             int ranks = 0);

/// Collectives of a rank that was recorded alone. What they took is transfer and waiting for late ranks;
/// those that are alike transfer alike, so what is beyond the shortest of them is waiting.
struct AloneCollectives {
  std::size_t count = 0;
  Picoseconds time;              ///< recorded
  Picoseconds waiting_at_least;  ///< of it
};
AloneCollectives alone_collectives(const RecordedRun& run);

struct ReplayShare {
  std::size_t count = 0;
  Picoseconds time;  ///< recorded
};

/// Work of all ranks by where its time comes from.
struct ReplayShares {
  ReplayShare model, another, choice, recording;
  ReplayShare nothing;  ///< not modelled, and without a recorded time: it takes none

  ReplayShare all() const;
};
ReplayShares shares_of(const RecordedRun& run, const ReplayModel& model);

/// Work of one name that is not modelled, for one reason.
struct NotModelled {
  std::string name;
  std::string reason;
  std::size_t count = 0;
  Picoseconds time;      ///< recorded
  bool has_time = true;  ///< else it takes none, as none was recorded
};

/// Work of all ranks that keeps its recorded time or takes none, the longest first, then the most frequent.
std::vector<NotModelled> not_modelled(const RecordedRun& run, const ReplayModel& model);

/// Every class: ReplayModel::classes of a replay that models all it can.
std::vector<WorkClass> all_work_classes();

}}  // namespace c3::traces
