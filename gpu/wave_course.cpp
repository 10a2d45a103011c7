#include "gpu/wave_course.hpp"

#include <algorithm>

#include "gpu/waves.hpp"

namespace c3 { inline namespace gpu {
namespace {

constexpr double kSameWave = 1e-6;

}  // namespace

WaveCourse::WaveCourse(std::int64_t work_groups, int xcds, std::int64_t waves)
    : waves_(static_cast<double>(waves)) {
  for (int xcd = 0; xcd < xcds; ++xcd)
    left_.push_back(work_groups_of_xcd(work_groups, xcds, xcd));
}

double WaveCourse::exact_waves(double progress) const {
  return from_ < 1.0 ? (progress - from_) / (1.0 - from_) * waves_ : waves_;
}

std::int64_t WaveCourse::done(double progress) const {
  return static_cast<std::int64_t>(exact_waves(progress) + kSameWave);
}

double WaveCourse::into_wave(double progress) const {
  return std::max(0.0, exact_waves(progress) - static_cast<double>(done(progress)));
}

double WaveCourse::progress_after(std::int64_t waves) const {
  return from_ + (1.0 - from_) * static_cast<double>(waves) / waves_;
}

std::vector<std::int64_t> WaveCourse::left_after(std::int64_t waves,
                                                 std::span<const std::int64_t> slots) const {
  std::vector<std::int64_t> left;
  for (std::size_t xcd = 0; xcd < left_.size(); ++xcd)
    left.push_back(std::max<std::int64_t>(0, left_[xcd] - waves * slots[xcd]));
  return left;
}

void WaveCourse::stop(double progress, std::span<const std::int64_t> slots) {
  left_ = left_after(done(progress), slots);
  into_ = into_wave(progress);
  from_ = progress;
}

void WaveCourse::go_on(std::span<const std::int64_t> kept, std::span<const std::int64_t> added) {
  waves_ = 0.0;
  for (std::size_t xcd = 0; xcd < left_.size(); ++xcd)
    waves_ = std::max(waves_, waves_of(left_[xcd], kept[xcd], added[xcd]));
  into_ = 0.0;
}

// Slots take one work group after another, each set as it becomes free.
double WaveCourse::waves_of(std::int64_t left, std::int64_t kept, std::int64_t added) const {
  double kept_until = kept > 0 ? 1.0 - into_ : 0.0;
  double added_until = added > 0 ? 1.0 : 0.0;
  for (std::int64_t waiting = left - kept - added; waiting > 0 && kept + added > 0;) {
    const bool is_kept = added == 0 || (kept > 0 && kept_until <= added_until);
    waiting -= is_kept ? kept : added;
    (is_kept ? kept_until : added_until) += 1.0;
  }
  return std::max(kept_until, added_until);
}

double WaveCourse::stretch(std::int64_t waves) const {
  const bool is_same_from_the_start = from_ <= 0.0;
  if (is_same_from_the_start || from_ >= 1.0) return 1.0;
  return waves_ / ((1.0 - from_) * static_cast<double>(waves));
}

}}  // namespace c3::gpu
