#include "workloads/analysis/study_samples.hpp"

#include <algorithm>
#include <iterator>

#include "workloads/analysis/nearest_rank.hpp"

namespace c3 { inline namespace workloads {

const Sample& percentile(const std::vector<Sample>& samples, double percent) {
  return samples[nearest_rank(samples.size(), percent)];
}

std::vector<Sample> by_time(std::vector<Sample> samples) {
  std::ranges::stable_sort(samples, {}, &Sample::time);
  return samples;
}

Seconds median(const std::vector<Sample>& samples) { return percentile(by_time(samples), 50).time(); }

Seconds median_of_draw(const std::vector<Sample>& samples, std::size_t draw) {
  std::vector<Sample> of_draw;
  std::ranges::copy_if(samples, std::back_inserter(of_draw),
                       [draw](const Sample& sample) { return sample.draw == draw; });
  return median(of_draw);
}

}}  // namespace c3::workloads
