#include "workloads/sampling/simulated_epoch.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <vector>

namespace c3 { inline namespace sampling {
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

/// Simulates lengths between two that were, until those in the middle lie on the line between them.
/// \param lengths sorted, each once; the first and the last were simulated
void refine(std::span<const std::int64_t> lengths, double error, TimesByLength& times) {
  if (lengths.size() < 3) return;
  const std::size_t middle = lengths.size() / 2;
  const Seconds on_line = times.at(lengths[middle]);
  times.simulate(lengths[middle]);
  if (std::abs(on_line / times.at(lengths[middle]) - 1.0) <= error) return;
  refine(lengths.first(middle + 1), error, times);
  refine(lengths.subspan(middle), error, times);
}

}  // namespace

EpochSample simulated_epoch(std::span<const std::int64_t> lengths, const SeqPointRequest& request,
                            const std::function<Seconds(std::int64_t length)>& time_of) {
  std::vector<std::int64_t> sorted(lengths.begin(), lengths.end());
  std::ranges::sort(sorted);
  sorted.erase(std::ranges::unique(sorted).begin(), sorted.end());
  TimesByLength times(time_of);
  times.simulate(sorted.front());
  times.simulate(sorted.back());
  SeqPointRequest half = request;  // the lines may be off by the other half
  half.error = 0.5 * request.error;
  refine(sorted, half.error, times);
  while (true) {
    std::vector<Iteration> log;
    for (const std::int64_t length : lengths)
      log.push_back({static_cast<double>(length), times.at(length)});
    EpochSample sample = seq_points(log, half);
    bool all_simulated = true;
    for (const SeqPoint& point : sample.points)
      all_simulated = !times.simulate(std::llround(point.length)) && all_simulated;
    if (all_simulated) return sample;
  }
}

}}  // namespace c3::sampling
