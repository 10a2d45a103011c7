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
  const Class& its = classes_.at(number);
  if (its.drawn.size() < kFewestDraws) return false;
  if (its.mean <= 0.0) return true;
  const double error = kFilledBound * error_ * total_ / quantile(its.drawn.size());
  const double allowed = error * error - kByThemselves * noise_;  // [s^2] of means of draws
  const double needed = spread_ * its.count() * its.deviation() / std::sqrt(its.mean);
  return static_cast<double>(its.drawn.size()) * allowed >= needed;
}

Seconds RunningSamples::draw(std::size_t number, std::uint64_t key) const {
  const std::vector<Seconds>& drawn = classes_.at(number).drawn;
  return drawn.at(key % drawn.size());
}

void RunningSamples::sum_up(Class& its) {
  const double spread = its.count() * its.deviation() * std::sqrt(its.mean);
  const double total = its.count() * its.mean;
  spread_ += spread - std::exchange(its.spread, spread);
  total_ += total - std::exchange(its.total, total);
  const double noise = its.count() * its.deviation() * its.deviation();
  noise_ += noise - std::exchange(its.noise, noise);
}

void RunningSamples::add_simulated(std::size_t number, Seconds duration) {
  Class& its = classes_.at(number);
  its.drawn.push_back(duration);
  const double from_mean = duration.value - its.mean;
  its.mean += from_mean / static_cast<double>(its.drawn.size());
  its.squares += from_mean * (duration.value - its.mean);
  ++simulated_;
  sum_up(its);
}

void RunningSamples::add_replayed(std::size_t number, Seconds duration) {
  Class& its = classes_.at(number);
  ++its.replayed;
  ++replayed_;
  replayed_time_ += duration;
  sum_up(its);
}

Seconds RunningSamples::expected_error() const {
  double sum = 0.0;
  for (const Class& its : classes_) {
    if (its.replayed == 0) continue;
    const auto replayed = static_cast<double>(its.replayed);
    const double off = quantile(its.drawn.size()) * its.deviation();
    sum += replayed * off * off * (replayed / static_cast<double>(its.drawn.size()) + kByThemselves);
  }
  return Seconds{std::sqrt(sum)};
}

}}  // namespace c3::sampling
