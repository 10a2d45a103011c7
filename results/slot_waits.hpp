#pragma once
/// How long channels of collectives wait for slots on CUs.

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/observer.hpp"

namespace c3::inline results {

/// Watches a run. From the start of a rank's part of a collective to that of its first channel it waits for
/// members and for slots: of the member that waits least, which is the last one or stands for all, only for
/// slots. Wrong when: ranks differ in what they run on a stream, whose n-th collectives are then several; it
/// says too little then.
class SlotWaits : public Observer {
 public:
  /// "channels of stream 'fsdp' wait for slots that kernels hold, 54.0% of the time"; of streams that wait for
  /// 1 % of the run or more. \param streams their names
  std::vector<std::string> notes(const std::vector<std::string>& streams) const;

  void activity_started(ActivityId id, const ActivityInfo& info, Seconds at) override;
  void activity_finished(ActivityId id, Seconds at) override;
  void resource_added(ResourceId, const ResourceInfo&, double) override {}
  void capacity_changed(ResourceId, Seconds, double) override {}
  void depends(ActivityId, ActivityId, DependencyKind) override {}
  void rate_changed(ActivityId, Seconds, double) override {}
  void utilisation(ResourceId, Seconds, double) override {}

 private:
  /// A collective of which no channel has begun.
  struct Waiting {
    int stream = -1;
    std::size_t number = 0;  ///< of its rank's collectives on the stream
    Seconds since;
  };

  std::map<ActivityId, Waiting> waiting_;
  std::map<std::pair<int, int>, std::size_t> counts_;  ///< collectives by rank and stream
  std::map<int, std::vector<Seconds>> least_;          ///< by stream and number, over ranks
  Seconds end_;
};

}  // namespace c3::results
