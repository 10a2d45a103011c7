#include "gpu/wave_course.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "engine/simulation.hpp"
#include "gpu/waves.hpp"

namespace c3 { inline namespace gpu {
namespace {

constexpr double kSameWave = 1e-6;

double whole_waves(double waves) { return std::floor(waves + kSameWave); }

}  // namespace

WaveCourse::WaveCourse(std::int64_t work_groups, std::int64_t waves, std::span<const std::int64_t> slots)
    : kept_(slots.size(), 0), added_(slots.begin(), slots.end()), into_(slots.size(), 0.0) {
  const auto xcds = static_cast<int>(slots.size());
  for (int xcd = 0; xcd < xcds; ++xcd) {
    left_.push_back(work_groups_of_xcd(work_groups, xcds, xcd));
    work_.push_back(static_cast<double>(left_.back()));
  }
  count_waves();
  waves_ = static_cast<double>(waves);  // blocks of a persistent kernel may need more
}

void WaveCourse::count_waves() {
  in_xcd_.clear();
  waves_ = 0.0;
  until_idle_ = kUnbounded;
  for (std::size_t xcd = 0; xcd < left_.size(); ++xcd) {
    const Waves& here = in_xcd_.emplace_back(waves_of(xcd));
    if (here.all <= 0.0) continue;
    waves_ = std::max(waves_, here.all);
    until_idle_ = std::min(until_idle_, here.until_idle);
  }
  until_idle_ = std::clamp(until_idle_, 0.0, std::max(0.0, waves_ - 1.0));
  set_end(0.0, 0.0);
}

// Slots take one work group after another, each set as it becomes free.
WaveCourse::Waves WaveCourse::waves_of(std::size_t xcd) const {
  const std::int64_t kept = kept_[xcd], added = added_[xcd];
  if (kept + added == 0) return {};
  double kept_until = kept > 0 ? 1.0 - into_[xcd] : kUnbounded;
  double added_until = added > 0 ? 1.0 : kUnbounded;
  std::int64_t waiting = left_[xcd] - kept - added;
  Waves waves;
  while (waiting > 0) {
    const bool is_kept = kept_until <= added_until;
    const std::int64_t freed = is_kept ? kept : added;
    double& until = is_kept ? kept_until : added_until;
    if (waiting < freed) waves.until_idle = until;
    waiting -= freed;
    until += 1.0;
  }
  if (waiting == 0) waves.until_idle = std::min(kept_until, added_until);
  waves.all = std::max(kept > 0 ? kept_until : 0.0, added > 0 ? added_until : 0.0);
  return waves;
}

double WaveCourse::end_without_tail(double crowding) const {
  double slots = 0.0, work = 0.0;
  for (std::size_t xcd = 0; xcd < left_.size(); ++xcd) {
    slots += static_cast<double>(kept_[xcd] + added_[xcd]);
    if (in_xcd_[xcd].all > 0.0) work += work_left_after(until_idle_, xcd);
  }
  return std::lerp(waves_ - until_idle_, slots > 0.0 ? work / slots : 0.0, crowding);
}

void WaveCourse::set_end(double crowding, double tail) { end_length_ = end_without_tail(crowding) + tail; }

double WaveCourse::work_left_after(double waves, std::size_t xcd) const {
  const auto& [until_idle, all] = in_xcd_[xcd];
  const auto slots = static_cast<double>(kept_[xcd] + added_[xcd]);
  if (slots <= 0.0) return work_[xcd];
  const double in_full = std::max(0.0, work_[xcd] - slots * std::min(waves, until_idle));
  if (waves <= until_idle) return in_full;
  return all > until_idle ? in_full * std::max(0.0, (all - waves) / (all - until_idle)) : 0.0;
}

double WaveCourse::exact_waves(double progress) const {
  if (from_ >= 1.0) return waves_;
  const double over = (progress - from_) / (1.0 - from_) * length();
  if (over <= until_idle_) return over;
  return until_idle_ + (over - until_idle_) / end_length_ * (waves_ - until_idle_);
}

std::int64_t WaveCourse::done(double progress) const {
  return static_cast<std::int64_t>(whole_waves(exact_waves(progress)));
}

double WaveCourse::into_wave(double progress) const {
  return std::max(0.0, exact_waves(progress) - static_cast<double>(done(progress)));
}

double WaveCourse::progress_after(std::int64_t waves) const {
  const auto asked = static_cast<double>(waves);
  const double in_end = std::max(0.0, asked - until_idle_) / (waves_ - until_idle_);
  return from_ + (1.0 - from_) * (std::min(asked, until_idle_) + in_end * end_length_) / length();
}

void WaveCourse::stop(double progress) {
  const double over = exact_waves(progress);
  for (std::size_t xcd = 0; xcd < left_.size(); ++xcd) {
    const double ended = static_cast<double>(kept_[xcd]) * whole_waves(over + into_[xcd]) +
                         static_cast<double>(added_[xcd]) * whole_waves(over);
    work_[xcd] = work_left_after(over, xcd);
    const auto begun = static_cast<std::int64_t>(std::ceil(work_[xcd] - kSameWave));
    left_[xcd] =
        std::clamp(left_[xcd] - static_cast<std::int64_t>(ended), begun, begun + kept_[xcd] + added_[xcd]);
  }
  from_ = progress;
}

// Work groups under way go on in the slots that are kept, or, where all were given up, in those that it got.
void WaveCourse::go_on(std::span<const std::int64_t> kept, std::span<const std::int64_t> added) {
  kept_.assign(kept.begin(), kept.end());
  added_.assign(added.begin(), added.end());
  for (std::size_t xcd = 0; xcd < left_.size(); ++xcd) {
    const double over = static_cast<double>(left_[xcd]) - work_[xcd];
    if (kept_[xcd] == 0 && over > kSameWave) std::swap(kept_[xcd], added_[xcd]);
    into_[xcd] = kept_[xcd] > 0 ? std::clamp(over / static_cast<double>(kept_[xcd]), 0.0, 1.0) : 0.0;
  }
  count_waves();
}

double relief(const Occupancy& of) {
  const double idle = 1.0 - static_cast<double>(of.last) / static_cast<double>(of.resident);
  if (idle <= 0.0) return of.sharing > 1 ? 1.0 : 0.0;
  return std::min(1.0, (1.0 - static_cast<double>(of.last_sharing) / of.sharing) / idle);
}

// The XCD whose fullest CU computes longest is the one that counts, with the slots of all.
WaveCourse::Rest WaveCourse::rest(int sharing) const {
  Rest rest;
  std::int64_t slots_of_all = 0, longest = 0;
  for (std::size_t xcd = 0; xcd < left_.size(); ++xcd) {
    const std::int64_t slots = std::min(kept_[xcd] + added_[xcd], left_[xcd]);
    if (slots == 0) continue;
    slots_of_all += slots;
    const Occupancy here = occupancy(left_[xcd], slots, wave_count_on(left_[xcd], slots), sharing);
    if (computed_in_turn(here) <= longest) continue;
    longest = computed_in_turn(here);
    rest.occupancy = here;
  }
  const auto waves = static_cast<double>(rest.occupancy.waves);
  rest.occupancy.resident = std::max<std::int64_t>(1, slots_of_all);
  rest.occupancy.first = std::reduce(added_.begin(), added_.end());
  rest.occupancy.last = work_groups_in_last(std::reduce(left_.begin(), left_.end()), rest.occupancy.resident,
                                            rest.occupancy.waves);
  const double part = 1.0 - from_;
  if (part <= 0.0 || longest == 0) return rest;
  const double computed = sharing * (until_idle_ + end_without_tail(relief(rest.occupancy)));
  rest.waits = waves_ / (part * waves);
  rest.arithmetic = computed / (part * static_cast<double>(longest));
  return rest;
}

}}  // namespace c3::gpu
