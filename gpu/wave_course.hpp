#pragma once
/// How far the waves of a grid are, whose slots may change while it runs.

#include <cstdint>
#include <span>
#include <vector>

namespace c3 { inline namespace gpu {

/// Counts work groups by XCD. The waves of one placement take equally long, and equal parts of the progress
/// that was left when it began. Slots that are added in the middle of a wave begin waves of their own. Wrong
/// when: work groups of one wave end far apart.
class WaveCourse {
 public:
  WaveCourse() = default;
  /// Of \p work_groups, dealt to XCDs in turn, that take \p waves.
  WaveCourse(std::int64_t work_groups, int xcds, std::int64_t waves);

  /// Waves from the last placement to the end.
  double waves() const { return waves_; }
  /// Waves since then that have ended at \p progress, 0..1, of the kernel.
  std::int64_t done(double progress) const;
  /// How much of the next one is over.
  double into_wave(double progress) const;
  double progress_after(std::int64_t waves) const;
  /// Work groups that have not ended after \p waves on \p slots.
  std::vector<std::int64_t> left_after(std::int64_t waves, std::span<const std::int64_t> slots) const;

  /// Until \p progress it had \p slots.
  void stop(double progress, std::span<const std::int64_t> slots);
  /// From there on it has \p kept ones, in which the wave under way goes on, and \p added ones. \pre stop()
  void go_on(std::span<const std::int64_t> kept, std::span<const std::int64_t> added);

  /// How many times as long what was left at the last placement takes as the same part of a kernel that has its
  /// slots, and so \p waves, from the start.
  double stretch(std::int64_t waves) const;

 private:
  double exact_waves(double progress) const;
  double waves_of(std::int64_t left, std::int64_t kept, std::int64_t added) const;

  double from_ = 0.0;   ///< progress at the last placement
  double waves_ = 1.0;  ///< from there to the end
  double into_ = 0.0;   ///< part of a wave that was over there
  std::vector<std::int64_t> left_;
};

}}  // namespace c3::gpu
