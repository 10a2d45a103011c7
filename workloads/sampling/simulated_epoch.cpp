#include "workloads/sampling/simulated_epoch.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

namespace c3::inline sampling {
namespace {

/// Times by length: simulated ones, and lines between them.
class TimesByLength {
 public:
  explicit TimesByLength(const std::function<Seconds(std::int64_t)>& time_of) : time_of_(time_of) {}

  /// \returns whether it was not simulated before
  bool simulate(std::int64_t length) {
    if (known_.contains(length)) return false;
    known_.emplace(length, time_of_(length));
    return true;
  }

  /// \pre the shortest and the longest length were simulated
  Seconds at(std::int64_t length) const {
    const auto above = known_.lower_bound(length);
    if (above->first == length) return above->second;
    const auto below = std::prev(above);
    const double share =
        static_cast<double>(length - below->first) / static_cast<double>(above->first - below->first);
    return below->second + share * (above->second - below->second);
  }

 private:
  const std::function<Seconds(std::int64_t)>& time_of_;
  std::map<std::int64_t, Seconds> known_;
};

}  // namespace

EpochSample simulated_epoch(std::span<const std::int64_t> lengths, const SeqPointRequest& request,
                            const std::function<Seconds(std::int64_t length)>& time_of) {
  std::vector<std::int64_t> sorted(lengths.begin(), lengths.end());
  std::ranges::sort(sorted);
  TimesByLength times(time_of);
  for (const std::int64_t length : {sorted.front(), sorted[sorted.size() / 2], sorted.back()})
    times.simulate(length);
  while (true) {
    std::vector<Iteration> log;
    for (const std::int64_t length : lengths)
      log.push_back({static_cast<double>(length), times.at(length)});
    EpochSample sample = seq_points(log, request);
    bool all_simulated = true;
    for (const SeqPoint& point : sample.points)
      all_simulated = !times.simulate(std::llround(point.length)) && all_simulated;
    if (all_simulated) return sample;
  }
}

}  // namespace c3::sampling
