#include "results/report/use_curve.hpp"

#include <algorithm>

namespace c3 { inline namespace results {

std::size_t UseCurve::add_member(double capacity) {
  members_.push_back({.used = 0, .capacity = capacity});
  capacity_ += capacity;
  return members_.size() - 1;
}

double UseCurve::share_now() const {
  double all_used = 0, all = 0;
  for (const auto& member : members_) {
    all_used += member.used;
    all += member.capacity;
  }
  // The solver fills a resource to within rounding.
  return all > 0 ? std::clamp(all_used / all, 0.0, 1.0) : 0;
}

void UseCurve::close_last(std::vector<Step>& steps, std::int64_t time) const {
  Step& last = steps.back();
  if (now_.time > last.time) last.share = area_ / static_cast<double>(time - last.time);
}

std::vector<UseCurve::Step> UseCurve::all_steps() const {
  std::vector<Step> steps = steps_;
  if (steps.empty() || steps.back().time == now_.time) return steps;
  close_last(steps, now_.time);
  steps.push_back(now_);
  return steps;
}

void UseCurve::step(std::size_t member, std::int64_t time, double used, double capacity) {
  members_.at(member) = {.used = used, .capacity = capacity};
  if (steps_.empty()) {
    now_.time = time;
    steps_.push_back(now_);
  } else if (time > now_.time) {
    peak_ = std::max(peak_, now_.share);
    area_ += now_.share * static_cast<double>(time - now_.time);
    if (time - steps_.back().time >= resolution_) {
      close_last(steps_, time);
      steps_.push_back({.time = time, .share = 0});
      area_ = 0;
    }
    now_.time = time;
  }
  now_.share = share_now();
  if (steps_.back().time == time) steps_.back().share = now_.share;
}

std::vector<double> UseCurve::shares(std::int64_t end, std::size_t bins) const {
  const std::vector<Step> steps = all_steps();
  std::vector<double> area(bins, 0.0);
  const double width = static_cast<double>(end) / static_cast<double>(bins);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].share <= 0) continue;
    const auto until = i + 1 < steps.size() ? std::min(steps[i + 1].time, end) : end;
    auto from = static_cast<double>(steps[i].time);
    for (auto bin = static_cast<std::size_t>(from / width); bin < bins && from < static_cast<double>(until);
         ++bin) {
      const double stop = std::min(static_cast<double>(until), static_cast<double>(bin + 1) * width);
      area[bin] += steps[i].share * std::max(0.0, stop - from);
      from = std::max(from, stop);
    }
  }
  for (double& bin : area)
    bin = std::clamp(bin / width, 0.0, 1.0);
  return area;
}

double UseCurve::mean(std::int64_t end) const { return end > 0 ? shares(end, 1).front() : 0; }

double UseCurve::peak() const { return std::max(peak_, now_.share); }

}}  // namespace c3::results
