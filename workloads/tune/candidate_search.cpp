#include "workloads/tune/candidate_search.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace c3 { inline namespace workloads {
namespace {

constexpr std::size_t kFewest = 2;       ///< costs that must be told before a likely regret ends a search
constexpr std::size_t kMostLearnt = 64;  ///< costs; what more would tell of others is little
constexpr int kHalvings = 50;

}  // namespace

CandidateSearch::CandidateSearch(SearchedCandidates candidates, SearchLimits limits)
    : candidates_(std::move(candidates)),
      limits_(limits),
      is_asked_(candidates_.bounds.size()),
      is_told_(candidates_.bounds.size()),
      costs_(candidates_.bounds.size()),
      revisions_(candidates_.bounds.size()),
      surrogate_(candidates_.positions) {
  if (!candidates_.left_out.empty()) is_asked_ = candidates_.left_out;
}

std::optional<std::size_t> CandidateSearch::ask() {
  if (limits_.budget && asked_ >= *limits_.budget) return std::nullopt;
  const Numbers left = unasked();
  if (left.empty()) return std::nullopt;
  if (best_ && limits_.regret && told_ >= kFewest && likely_regret(left) <= *limits_.regret)
    return std::nullopt;
  const std::size_t next = likeliest(left);
  is_asked_[next] = true;
  ++asked_;
  return next;
}

void CandidateSearch::tell(std::size_t candidate, std::optional<double> cost) {
  if (is_told_[candidate]) throw std::logic_error("a candidate's cost was told twice");
  is_told_[candidate] = true;
  ++told_;
  costs_[candidate] = cost;
  if (!cost) return;
  if (*cost < bound(candidate)) ++broken_;
  const auto rank = [this](std::size_t number) { return std::pair(*costs_[number], number); };
  if (!best_ || rank(candidate) < rank(*best_)) best_ = candidate;
  if (learnt_.size() == kMostLearnt) return;
  learnt_.push_back(candidate);
  is_learnt_ = false;
}

void CandidateSearch::revise(std::size_t candidate, double cost) {
  if (!costs_.at(candidate)) throw std::logic_error("a cost that nobody told was revised");
  costs_[candidate] = cost;
  ++revisions_[candidate];
  if (cost < bound(candidate)) ++broken_;
  best_ = ranking().front();
  is_learnt_ = false;
}

std::vector<std::size_t> CandidateSearch::ranking() const {
  Numbers ranking;
  for (std::size_t candidate = 0; candidate < costs_.size(); ++candidate) {
    if (costs_[candidate]) ranking.push_back(candidate);
  }
  std::ranges::stable_sort(ranking, {}, [this](std::size_t candidate) {
    return std::pair(-revisions_[candidate], *costs_[candidate]);
  });
  return ranking;
}

CandidateSearch::Numbers CandidateSearch::untold() const {
  Numbers left;
  for (std::size_t candidate = 0; candidate < is_told_.size(); ++candidate) {
    if (!is_told_[candidate]) left.push_back(candidate);
  }
  return left;
}

CandidateSearch::Numbers CandidateSearch::unasked() const {
  Numbers left = untold();
  std::erase_if(left, [this](std::size_t candidate) { return is_asked_[candidate] || !may_win(candidate); });
  return left;
}

std::size_t CandidateSearch::open() const {
  const Numbers left = untold();
  return static_cast<std::size_t>(
      std::ranges::count_if(left, [this](std::size_t candidate) { return may_win(candidate); }));
}

std::size_t CandidateSearch::pruned() const { return untold().size() - open(); }

std::optional<double> CandidateSearch::worst_regret() const {
  if (!best_ || broken_ > 0) return std::nullopt;
  double least = *costs_[*best_];
  for (const std::size_t candidate : untold())
    least = std::min(least, bound(candidate));
  return *costs_[*best_] / least - 1.0;
}

std::optional<double> CandidateSearch::likely_regret() {
  const std::optional<double> worst = worst_regret();
  return worst ? std::optional(std::min(*worst, likely_regret(untold()))) : std::nullopt;
}

// The probability that no open candidate is below a limit is the product of theirs.
double CandidateSearch::likely_regret(const Numbers& open) {
  learn();
  const double best = *costs_[*best_];
  const auto is_likely = [&](double regret) {
    const double limit = best / (1.0 + regret);
    double none = 1.0;
    for (const std::size_t candidate : open)
      if (bound(candidate) < limit) none *= 1.0 - predictions_[candidate].below(std::log(limit));
    return none >= kConfidence;
  };
  if (is_likely(0.0)) return 0.0;
  double low = 0.0, high = 1.0;
  while (!is_likely(high))
    high *= 2.0;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = 0.5 * (low + high);
    (is_likely(middle) ? high : low) = middle;
  }
  return high;
}

std::size_t CandidateSearch::likeliest(const Numbers& candidates) {
  if (!best_) {
    return *std::ranges::min_element(candidates, {},
                                     [this](std::size_t number) { return candidates_.estimates[number]; });
  }
  learn();
  const double best = std::log(*costs_[*best_]);
  return *std::ranges::max_element(candidates, {}, [&](std::size_t number) {
    return (best - predictions_[number].mean) / predictions_[number].scale;
  });
}

void CandidateSearch::learn() {
  if (is_learnt_) return;
  std::vector<double> excess;
  for (const std::size_t candidate : learnt_)
    excess.push_back(std::log(*costs_[candidate] / candidates_.estimates[candidate]));
  surrogate_.learn(learnt_, excess);
  predictions_.clear();
  for (std::size_t candidate = 0; candidate < costs_.size(); ++candidate) {
    predictions_.push_back(surrogate_.predict(candidate));
    predictions_.back().mean += std::log(candidates_.estimates[candidate]);
  }
  is_learnt_ = true;
}

}}  // namespace c3::workloads
