#include "workloads/tune/bounded_search.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace c3::inline workloads {

BoundedSearch::BoundedSearch(std::vector<double> bounds, std::optional<std::size_t> budget)
    : bounds_(std::move(bounds)),
      order_(bounds_.size()),
      budget_(budget),
      is_told_(bounds_.size()),
      costs_(bounds_.size()) {
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::ranges::stable_sort(order_, {}, [this](std::size_t candidate) { return bounds_[candidate]; });
}

std::optional<std::size_t> BoundedSearch::ask() {
  if (asked_ == order_.size() || (budget_ && asked_ >= *budget_)) return std::nullopt;
  if (!may_win(order_[asked_])) return std::nullopt;
  return order_[asked_++];
}

void BoundedSearch::tell(std::size_t candidate, std::optional<double> cost) {
  if (is_told_[candidate]) throw std::logic_error("a candidate's cost was told twice");
  is_told_[candidate] = true;
  ++told_;
  costs_[candidate] = cost;
  if (!cost) return;
  if (*cost < bounds_[candidate]) ++broken_;
  const auto rank = [this](std::size_t its) { return std::pair(*costs_[its], its); };
  if (!best_ || rank(candidate) < rank(*best_)) best_ = candidate;
}

std::vector<std::size_t> BoundedSearch::ranking() const {
  std::vector<std::size_t> ranking;
  for (std::size_t candidate = 0; candidate < costs_.size(); ++candidate) {
    if (costs_[candidate]) ranking.push_back(candidate);
  }
  std::ranges::stable_sort(ranking, {}, [this](std::size_t candidate) { return *costs_[candidate]; });
  return ranking;
}

std::vector<std::size_t> BoundedSearch::untold() const {
  std::vector<std::size_t> left;
  for (std::size_t candidate = 0; candidate < is_told_.size(); ++candidate) {
    if (!is_told_[candidate]) left.push_back(candidate);
  }
  return left;
}

std::size_t BoundedSearch::open() const {
  const std::vector<std::size_t> left = untold();
  return static_cast<std::size_t>(
      std::ranges::count_if(left, [this](std::size_t candidate) { return may_win(candidate); }));
}

std::size_t BoundedSearch::pruned() const { return untold().size() - open(); }

std::optional<double> BoundedSearch::regret() const {
  if (!best_ || broken_ > 0) return std::nullopt;
  double least = *costs_[*best_];
  for (const std::size_t candidate : untold())
    least = std::min(least, bound(candidate));
  return *costs_[*best_] / least - 1.0;
}

}  // namespace c3::workloads
