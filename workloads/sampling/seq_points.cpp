#include "workloads/sampling/seq_points.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace c3 { inline namespace sampling {
namespace {

constexpr std::size_t kTypical = 30;  // iterations, by the rule of thumb of the central limit theorem
constexpr std::size_t kRepeats = 15;  // iterations that tell the time of a length on another machine

/// Positions of iterations, by length and then by position.
std::vector<std::size_t> by_length(std::span<const Iteration> epoch) {
  std::vector<std::size_t> order(epoch.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return epoch[i].length; });
  return order;
}

/// The run of iterations of one length that begins at \p begin in \p some, which are sorted by length.
std::span<const std::size_t> run_of_length(std::span<const Iteration> epoch, std::span<const std::size_t> some,
                                           std::size_t begin) {
  std::size_t end = begin + 1;
  while (end < some.size() && epoch[some[end]].length == epoch[some[begin]].length)
    ++end;
  return some.subspan(begin, end - begin);
}

/// The length whose typical time is nearest to the mean of \p some stands for them, and of its iterations the
/// one nearest to that: a length that is only near because one iteration happened to be slow would not be near
/// on another machine. What is typical of a length is the mean of its iterations, and where they are few, of
/// their neighbours' in length on both sides alike, kTypical in all. \param some by length
SeqPoint point_of(std::span<const Iteration> epoch, std::span<const std::size_t> some) {
  const auto distance = [](Seconds a, Seconds b) { return std::abs((a - b).value); };
  std::vector<Seconds> before(1);  // of each position, the sum of all times before it
  for (const std::size_t i : some)
    before.push_back(before.back() + epoch[i].time);
  const auto typical_of = [&](std::size_t begin, std::size_t end) {
    const std::size_t missing = kTypical - std::min(kTypical, end - begin);
    const std::size_t aside = std::min({(missing + 1) / 2, begin, some.size() - end});
    return (before[end + aside] - before[begin - aside]) / static_cast<double>(end - begin + 2 * aside);
  };
  const Seconds mean = before.back() / static_cast<double>(some.size());
  std::span<const std::size_t> best;
  Seconds typical;
  for (std::size_t begin = 0; begin < some.size();) {
    const auto length = run_of_length(epoch, some, begin);
    const Seconds length_time = typical_of(begin, begin + length.size());
    if (best.empty() || distance(length_time, mean) < distance(typical, mean)) {
      best = length;
      typical = length_time;
    }
    begin += length.size();
  }
  const std::size_t nearest =
      *std::ranges::min_element(best, {}, [&](std::size_t i) { return distance(epoch[i].time, typical); });
  return {nearest, epoch[nearest].length, epoch[nearest].time, static_cast<double>(some.size())};
}

EpochSample empty_sample(std::span<const Iteration> epoch) {
  EpochSample sample;
  for (const Iteration& iteration : epoch)
    sample.total += iteration.time;
  return sample;
}

/// A point for every run of positions in \p order to which \p bin_of gives the same bin.
template <class BinOf>
EpochSample binned(std::span<const Iteration> epoch, std::span<const std::size_t> order, BinOf bin_of) {
  EpochSample sample = empty_sample(epoch);
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    while (end < order.size() && bin_of(order[end]) == bin_of(order[begin]))
      ++end;
    sample.points.push_back(point_of(epoch, order.subspan(begin, end - begin)));
    begin = end;
  }
  return sample;
}

std::size_t different_lengths(std::span<const Iteration> epoch, std::span<const std::size_t> order) {
  std::size_t count = 1;
  for (std::size_t i = 1; i < order.size(); ++i)
    count += epoch[order[i]].length != epoch[order[i - 1]].length ? 1 : 0;
  return count;
}

/// One iteration for all.
EpochSample one_point(std::span<const Iteration> epoch, std::span<const std::size_t> alike) {
  EpochSample sample = empty_sample(epoch);
  sample.points = {point_of(epoch, alike)};
  sample.points.front().weight = static_cast<double>(epoch.size());
  return sample;
}

/// The positions in \p order whose iterations are as long as that at \p position.
std::span<const std::size_t> as_long_as(std::size_t position, std::span<const Iteration> epoch,
                                        std::span<const std::size_t> order) {
  const auto alike = std::ranges::equal_range(order, epoch[position].length, {},
                                              [&](std::size_t i) { return epoch[i].length; });
  return {alike.begin(), alike.end()};
}

EpochSample most_frequent(std::span<const Iteration> epoch, const SeqPointRequest& /*request*/) {
  const std::vector<std::size_t> order = by_length(epoch);
  std::span<const std::size_t> best;
  for (std::size_t begin = 0; begin < order.size();) {
    const auto alike = as_long_as(order[begin], epoch, order);
    if (alike.size() > best.size()) best = alike;
    begin += alike.size();
  }
  return one_point(epoch, best);
}

EpochSample median_length(std::span<const Iteration> epoch, const SeqPointRequest& /*request*/) {
  const std::vector<std::size_t> order = by_length(epoch);
  return one_point(epoch, as_long_as(order[order.size() / 2], epoch, order));
}

EpochSample longest(std::span<const Iteration> epoch, const SeqPointRequest& /*request*/) {
  const std::vector<std::size_t> order = by_length(epoch);
  return one_point(epoch, as_long_as(order.back(), epoch, order));
}

EpochSample first_window(std::span<const Iteration> epoch, const SeqPointRequest& request) {
  EpochSample sample = empty_sample(epoch);
  const std::size_t window = std::min(seq_points(epoch, request).points.size(), epoch.size());
  for (std::size_t i = 0; i < window; ++i)
    sample.points.push_back(
        {i, epoch[i].length, epoch[i].time, static_cast<double>(epoch.size()) / static_cast<double>(window)});
  return sample;
}

}  // namespace

std::size_t EpochSample::iterations() const {
  double count = 0.0;
  for (const SeqPoint& point : points)
    count += point.weight;
  return static_cast<std::size_t>(std::llround(count));
}

Seconds EpochSample::estimate() const {
  Seconds sum;
  for (const SeqPoint& point : points)
    sum += point.time * point.weight;
  return sum;
}

double EpochSample::error() const { return std::abs(estimate() / total - 1.0); }

double EpochSample::fewer() const {
  return static_cast<double>(iterations()) / static_cast<double>(points.size());
}

EpochSample seq_points(std::span<const Iteration> epoch, const SeqPointRequest& request) {
  const std::vector<std::size_t> order = by_length(epoch);
  const std::size_t lengths = different_lengths(epoch, order);
  const double shortest = epoch[order.front()].length;
  const double range = epoch[order.back()].length - shortest;
  if (lengths > request.few_lengths) {
    for (std::size_t bins = request.first_bins; bins < lengths; ++bins) {
      EpochSample sample = binned(epoch, order, [&](std::size_t i) {
        const double share = (epoch[i].length - shortest) / range;
        return std::min(static_cast<std::size_t>(share * static_cast<double>(bins)), bins - 1);
      });
      sample.bins = bins;
      if (sample.error() <= request.error) return sample;
    }
  }
  return binned(epoch, order, [&](std::size_t i) { return epoch[i].length; });
}

std::span<const LengthMethod> length_methods() {
  static const std::array kMethods{
      LengthMethod{"seqpoint", "one iteration for each bin of lengths (ISPASS 2020)", seq_points},
      LengthMethod{"frequent", "an iteration of the most frequent length for all", most_frequent},
      LengthMethod{"median", "an iteration of the median length for all", median_length},
      LengthMethod{"worst", "an iteration of the greatest length for all", longest},
      LengthMethod{"window", "the epoch's first iterations, as many as seqpoint takes", first_window}};
  return kMethods;
}

Seconds projected(std::span<const SeqPoint> points, std::span<const Iteration> recorded) {
  const std::vector<std::size_t> order = by_length(recorded);
  Seconds sum;
  for (const SeqPoint& point : points) {
    const auto distance = [&](std::size_t i) { return std::abs(recorded[i].length - point.length); };
    std::vector<std::size_t> nearest = order;
    const std::size_t count = std::min(kRepeats, nearest.size());
    std::ranges::nth_element(nearest, nearest.begin() + static_cast<std::ptrdiff_t>(count - 1), {}, distance);
    nearest.resize(count);
    const auto middle = nearest.begin() + static_cast<std::ptrdiff_t>(count / 2);
    std::ranges::nth_element(nearest, middle, {}, [&](std::size_t i) { return recorded[i].time; });
    sum += recorded[*middle].time * point.weight;
  }
  return sum;
}

}}  // namespace c3::sampling
