#include "workloads/sampling/running_samples.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "workloads/sampling/confidence.hpp"
#include "workloads/sampling/plan.hpp"

namespace c3 { inline namespace sampling {
namespace {

constexpr int kMostDegrees = 60;  // beyond, a normal variable's quantile is within 2 %
// Variances that kernels add because each varies by itself: the replayed, and those simulated in their place.
constexpr double kByThemselves = 2.0;

}  // namespace

double RunningSamples::Class::deviation() const {
  return drawn.size() < 2 ? 0.0 : std::sqrt(squares / static_cast<double>(drawn.size() - 1));
}

RunningSamples::RunningSamples(double error, double confidence) : error_(error), confidence_(confidence) {
  for (int degrees = 1; degrees <= kMostDegrees; ++degrees)
    quantiles_.push_back(student_quantile(confidence, degrees));
}

std::size_t RunningSamples::add_class() {
  classes_.emplace_back();
  return classes_.size() - 1;
}

double RunningSamples::quantile(std::size_t draws) const {
  return quantiles_[std::clamp<std::size_t>(draws, 2, quantiles_.size() + 1) - 2];
}

bool RunningSamples::is_known(std::size_t number) const {
  const Class& durations = classes_.at(number);
  if (durations.drawn.size() < kFewestDraws) return false;
  if (durations.mean <= 0.0) return true;
  const double error = kFilledBound * error_ * total_ / quantile(durations.drawn.size());
  const double allowed = error * error - kByThemselves * noise_;  // [s^2] of means of draws
  const double needed = spread_ * durations.count() * durations.deviation() / std::sqrt(durations.mean);
  return static_cast<double>(durations.drawn.size()) * allowed >= needed;
}

Seconds RunningSamples::draw(std::size_t number, std::uint64_t key) const {
  const std::vector<Seconds>& drawn = classes_.at(number).drawn;
  return drawn.at(key % drawn.size());
}

void RunningSamples::sum_up(Class& durations) {
  const double spread = durations.count() * durations.deviation() * std::sqrt(durations.mean);
  const double total = durations.count() * durations.mean;
  spread_ += spread - std::exchange(durations.spread, spread);
  total_ += total - std::exchange(durations.total, total);
  const double noise = durations.count() * durations.deviation() * durations.deviation();
  noise_ += noise - std::exchange(durations.noise, noise);
}

void RunningSamples::add_simulated(std::size_t number, Seconds duration) {
  Class& durations = classes_.at(number);
  durations.drawn.push_back(duration);
  const double from_mean = duration.value - durations.mean;
  durations.mean += from_mean / static_cast<double>(durations.drawn.size());
  durations.squares += from_mean * (duration.value - durations.mean);
  ++simulated_;
  sum_up(durations);
}

void RunningSamples::add_replayed(std::size_t number, Seconds duration) {
  Class& durations = classes_.at(number);
  ++durations.replayed;
  ++replayed_;
  replayed_time_ += duration;
  sum_up(durations);
}

Seconds RunningSamples::expected_error() const {
  double sum = 0.0;
  for (const Class& durations : classes_) {
    if (durations.replayed == 0) continue;
    const auto replayed = static_cast<double>(durations.replayed);
    const double off = quantile(durations.drawn.size()) * durations.deviation();
    sum += replayed * off * off * (replayed / static_cast<double>(durations.drawn.size()) + kByThemselves);
  }
  return Seconds{std::sqrt(sum)};
}

}}  // namespace c3::sampling
