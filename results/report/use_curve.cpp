#include "results/report/use_curve.hpp"

#include <algorithm>

namespace c3 {

std::size_t UseCurve::add_member(double capacity) {
  members_.push_back({.used = 0, .capacity = capacity});
  capacity_ += capacity;
  return members_.size() - 1;
}

void UseCurve::step(std::size_t member, std::int64_t time, double used, double capacity) {
  members_.at(member) = {.used = used, .capacity = capacity};
  double all_used = 0, all = 0;
  for (const auto& each : members_) {
    all_used += each.used;
    all += each.capacity;
  }
  // The solver fills a resource to within rounding.
  const double share = all > 0 ? std::clamp(all_used / all, 0.0, 1.0) : 0;
  if (!steps_.empty() && steps_.back().time == time) {
    steps_.back().share = share;
  } else {
    steps_.push_back({.time = time, .share = share});
  }
}

std::vector<double> UseCurve::shares(std::int64_t end, std::size_t bins) const {
  std::vector<double> area(bins, 0.0);
  const double width = static_cast<double>(end) / static_cast<double>(bins);
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    if (steps_[i].share <= 0) continue;
    const auto until = i + 1 < steps_.size() ? std::min(steps_[i + 1].time, end) : end;
    auto from = static_cast<double>(steps_[i].time);
    for (auto bin = static_cast<std::size_t>(from / width); bin < bins && from < static_cast<double>(until);
         ++bin) {
      const double stop = std::min(static_cast<double>(until), static_cast<double>(bin + 1) * width);
      area[bin] += steps_[i].share * std::max(0.0, stop - from);
      from = std::max(from, stop);
    }
  }
  for (double& bin : area)
    bin = std::clamp(bin / width, 0.0, 1.0);
  return area;
}

double UseCurve::mean(std::int64_t end) const { return end > 0 ? shares(end, 1).front() : 0; }

double UseCurve::peak() const {
  const auto largest = std::ranges::max_element(steps_, {}, &Step::share);
  return largest == steps_.end() ? 0 : largest->share;
}

}  // namespace c3
