#pragma once
/// How far the waves of a grid are, whose slots may change while it runs.

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/kernel_time.hpp"

namespace c3 { inline namespace gpu {

/// How far the arithmetic of a CU goes with the number of work groups that run, 0..1, where some slots are
/// idle: not at all where each has a CU of its own.
double relief(const Occupancy& occupancy);

/// Counts work groups by XCD. While all slots of a placement are busy its waves take equally long, and equal
/// parts of the progress that was left when it began. Slots that are added in the middle of a wave begin waves
/// of their own. Wrong when: work groups of one wave end far apart.
class WaveCourse {
 public:
  /// What the last placement still has to do, as a part of the kernel: a grid of its own, and how many times as
  /// long as that grid's law it takes to make this part of the progress.
  struct Rest {
    Occupancy occupancy;
    double waits = 1.0;       ///< for what each wave waits for once
    double arithmetic = 1.0;  ///< for the arithmetic of the fullest CU
  };

  /// Of \p work_groups, dealt to XCDs in turn, that take \p waves on \p slots.
  WaveCourse(std::int64_t work_groups, std::int64_t waves, std::span<const std::int64_t> slots);
  /// What the end of this placement takes, where some slots are idle. \param crowding share of a wave's time
  /// that goes with the work groups that run, 0..1, because they share arithmetic or HBM \param tail in waves
  void set_end(double crowding, double tail);

  /// Waves from the last placement to the end.
  double waves() const { return waves_; }
  /// Whether the kernel has had its slots from the start.
  bool is_whole() const { return from_ <= 0.0; }
  /// Waves since the last placement that have ended at \p progress, 0..1, of the kernel.
  std::int64_t done(double progress) const;
  /// How much of the next one is over.
  double into_wave(double progress) const;
  double progress_after(std::int64_t waves) const;
  /// Work groups that had not ended at the last placement.
  const std::vector<std::int64_t>& left() const { return left_; }

  /// Until \p progress it had the slots of the last placement.
  void stop(double progress);
  /// From there on it has \p kept ones, in which the wave under way goes on, and \p added ones. \pre stop()
  void go_on(std::span<const std::int64_t> kept, std::span<const std::int64_t> added);
  /// \param sharing work groups on the fullest CU \pre go_on(), and not is_whole()
  Rest rest(int sharing) const;

 private:
  struct Waves {
    double until_idle = 0.0;  ///< until the first slot finds no work group any more
    double all = 0.0;
  };
  Waves waves_of(std::size_t xcd) const;
  void count_waves();
  double length() const { return until_idle_ + end_length_; }
  double exact_waves(double progress) const;
  double work_left_after(double waves, std::size_t xcd) const;
  double end_without_tail(double crowding) const;

  double from_ = 0.0;        ///< progress at the last placement
  double waves_ = 1.0;       ///< from there to the end
  double until_idle_ = 0.0;  ///< part of them in which all slots are busy, and which takes 1 each
  double end_length_ = 1.0;  ///< of the others together
  std::vector<Waves> in_xcd_;
  std::vector<std::int64_t> left_, kept_, added_;
  std::vector<double>
      into_;  ///< part of a wave that was over at the last placement in the slots that were kept
  std::vector<double> work_;  ///< that was left there, in work groups: those under way count in part
};

}}  // namespace c3::gpu
