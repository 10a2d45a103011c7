#pragma once
/// Iterations of an epoch that stand for all, by the length of their sequences.

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "engine/units.hpp"

namespace c3 { inline namespace sampling {

/// One iteration of training.
struct Iteration {
  double length = 0.0;  ///< of its sequences, in tokens or frames: whatever its time follows from
  Seconds time;
};

/// An iteration to run, and how many it stands for.
struct SeqPoint {
  std::size_t iteration = 0;  ///< its position in the epoch
  double length = 0.0;
  Seconds time;
  double weight = 1.0;
};

struct SeqPointRequest {
  double error = 0.01;           ///< largest self-projection error, relative
  std::size_t first_bins = 5;    ///< of lengths; more until the error is met
  std::size_t few_lengths = 10;  ///< so many different lengths, or fewer, are all taken
};

struct EpochSample {
  std::vector<SeqPoint> points;  ///< by length
  Seconds total;                 ///< of the epoch
  std::size_t bins = 0;          ///< of lengths; 0 where every length is its own, or the method has none

  std::size_t iterations() const;  ///< of the epoch
  Seconds estimate() const;        ///< sum of weight x time
  double error() const;            ///< self-projection: |estimate - total| / total
  /// Iterations of the epoch over those that are run.
  double fewer() const;
};

/// A way to choose them.
struct LengthMethod {
  std::string_view name;
  std::string_view about;
  EpochSample (*choose)(std::span<const Iteration> epoch, const SeqPointRequest& request);
};

/// SeqPoint and the baselines of its paper, SeqPoint first.
std::span<const LengthMethod> length_methods();

/// SeqPoint: lengths are divided into bins of equal width; of each the length whose typical time (the mean of
/// 30 iterations around it) is nearest to the bin's, with an iteration of such a length, stands for all in it;
/// bins are added until the points' own estimate of the epoch is within the error asked for, or every length is
/// its own bin. Source: Pati et al., "SeqPoint: identifying representative iterations of sequence-based neural
/// networks", ISPASS 2020, arXiv 2007.10459. Wrong when: time depends on more than the length, such as a slow
/// first iteration, or how sequences are packed. \param epoch at least one iteration
EpochSample seq_points(std::span<const Iteration> epoch, const SeqPointRequest& request);

/// The time of \p points on another machine, of which \p recorded has iterations: a point takes the median
/// time of the recorded iterations nearest to it in length (15 of them, or all).
Seconds projected(std::span<const SeqPoint> points, std::span<const Iteration> recorded);

}}  // namespace c3::sampling
