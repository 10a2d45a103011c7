#include "workloads/sampling/sequence_lengths.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "engine/random.hpp"

namespace c3 { inline namespace sampling {
namespace {

/// Draws lengths from counts of them.
class HistogramDraw {
 public:
  explicit HistogramDraw(const std::vector<LengthCount>& histogram) : histogram_(histogram) {
    double sum = 0.0;
    for (const LengthCount& one : histogram)
      sums_.push_back(sum += static_cast<double>(one.count));
  }

  /// \param place in (0, 1)
  std::int64_t at(double place) const {
    const auto found = std::ranges::upper_bound(sums_, place * sums_.back());
    return histogram_[std::min(static_cast<std::size_t>(found - sums_.begin()), histogram_.size() - 1)].length;
  }

 private:
  const std::vector<LengthCount>& histogram_;
  std::vector<double> sums_;
};

std::int64_t padded(std::int64_t length, std::int64_t multiple) {
  return (length + multiple - 1) / multiple * multiple;
}

}  // namespace

std::vector<std::int64_t> draw_lengths(const SequenceLengths& job, std::uint64_t seed) {
  const RandomStream random(seed, "lengths of sequences");
  std::function<std::int64_t(std::uint64_t)> draw;
  if (job.lognormal) {
    draw = [&](std::uint64_t i) {
      return std::llround(job.lognormal->median * std::exp(job.lognormal->deviation * random.normal(i)));
    };
  } else {
    draw = [&random, from = HistogramDraw(job.histogram)](std::uint64_t i) {
      return from.at(random.uniform(i));
    };
  }
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(job.sequences));
  for (std::size_t i = 0; i < lengths.size(); ++i)
    lengths[i] = std::clamp(draw(i), job.shortest, job.longest);
  return lengths;
}

double keys_of_query(const std::vector<std::int64_t>& lengths, std::int64_t full, bool is_causal) {
  double pairs = 0.0, tokens = 0.0;
  std::int64_t room = full;
  for (const std::int64_t length : lengths) {
    for (std::int64_t left = length; left > 0;) {
      const auto piece = static_cast<double>(std::min(left, room));
      pairs += is_causal ? 0.5 * piece * (piece + 1.0) : piece * piece;
      tokens += piece;
      left -= std::min(left, room);
      room -= static_cast<std::int64_t>(piece);
      if (room == 0) room = full;
    }
  }
  return pairs / tokens;
}

std::vector<std::int64_t> iteration_lengths(const SequenceLengths& job, std::vector<std::int64_t> lengths,
                                            std::int64_t batch, std::int64_t full) {
  if (job.batches == LengthBatches::packed) {
    const std::int64_t tokens = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
    const std::int64_t iterations = (tokens + full * batch - 1) / (full * batch);
    return std::vector<std::int64_t>(static_cast<std::size_t>(iterations), full);
  }
  if (job.batches == LengthBatches::sorted) std::ranges::sort(lengths);
  std::vector<std::int64_t> iterations;
  const auto size = static_cast<std::size_t>(batch);
  for (std::size_t begin = 0; begin < lengths.size(); begin += size) {
    const auto end = lengths.begin() + static_cast<std::ptrdiff_t>(std::min(begin + size, lengths.size()));
    iterations.push_back(
        padded(*std::max_element(lengths.begin() + static_cast<std::ptrdiff_t>(begin), end), job.multiple));
  }
  return iterations;
}

}}  // namespace c3::sampling
