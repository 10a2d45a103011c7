#include "app/tune_answer.hpp"

#include <algorithm>
#include <cstdint>
#include <ranges>
#include <string_view>

namespace c3::inline app {
namespace {

std::optional<double> number_of(const TunedCandidate& candidate, std::string_view name) {
  const auto found = std::ranges::find(candidate.numbers, name, &PointNumber::name);
  return found == candidate.numbers.end() ? std::nullopt : std::optional(found->value);
}

constexpr std::string_view kExposedKind = "exposed_";

/// Numbers of exposed communication by kind that either has.
std::vector<std::string> exposed_kinds(const TunedCandidate& best, const TunedCandidate& other) {
  std::vector<std::string> names;
  for (const TunedCandidate* its : {&best, &other})
    for (const PointNumber& number : its->numbers)
      if (number.name.starts_with(kExposedKind) && std::ranges::find(names, number.name) == names.end())
        names.push_back(number.name);
  return names;
}

/// Whether \p a, which ranks before \p b, is no worse in anything that is known of both, and better in
/// something.
bool beats(const TunedCandidate& a, const TunedCandidate& b) {
  bool is_better = a.cost != b.cost;
  const auto is_no_worse = [&](double its, double other) {
    is_better = is_better || its < other;
    return its <= other;
  };
  if (!is_no_worse(a.what.facts.needed.value, b.what.facts.needed.value)) return false;
  const std::optional<Joules> mine = energy_of(a), theirs = energy_of(b);
  if (mine && theirs && !is_no_worse(mine->value, theirs->value)) return false;
  const std::optional<double> my_price = usd_of_work(a), their_price = usd_of_work(b);
  if (my_price && their_price && !is_no_worse(*my_price, *their_price)) return false;
  return is_better;
}

}  // namespace

std::optional<Joules> energy_of(const TunedCandidate& candidate) {
  return candidate.takes.energy > Joules{} ? std::optional(candidate.takes.energy) : std::nullopt;
}

std::optional<double> usd_of(const TunedCandidate& candidate) {
  const CandidateSize& size = candidate.what.facts.size;
  return size.usd_per_gpu_hour > 0.0 ? std::optional(usd_of(candidate.takes.time, size)) : std::nullopt;
}

std::optional<double> usd_of_work(const TunedCandidate& candidate) {
  const std::optional<double> usd = usd_of(candidate);
  const auto tokens = static_cast<double>(candidate.what.facts.size.tokens);
  return usd && tokens > 0.0 ? std::optional(*usd * 1e9 / tokens) : usd;
}

std::string_view usd_of_work_name(const Tuning& tuning) {
  const bool has_tokens = !tuning.ranking.empty() && tuning.ranking.front().what.facts.size.tokens > 0;
  return has_tokens ? "USD/1e9 tokens" : "USD a run";
}

double bound_over_cost(Objective objective, const TunedCandidate& candidate) {
  const CandidateFacts& facts = candidate.what.facts;
  return cost_of(objective, facts.bound, facts.size) / candidate.cost;
}

std::string_view bounded_word(Objective objective) { return needs_power(objective) ? "energy" : "time"; }

std::vector<std::size_t> front_of(const std::vector<TunedCandidate>& ranking) {
  std::vector<std::size_t> front;
  for (std::size_t i = 0; i < ranking.size(); ++i) {
    const bool is_beaten = std::ranges::any_of(
        ranking | std::views::take(i), [&](const TunedCandidate& other) { return beats(other, ranking[i]); });
    if (!is_beaten) front.push_back(i);
  }
  return front;
}

std::vector<ComparedNumber> compared(const TunedCandidate& best, const TunedCandidate& other) {
  std::vector<ComparedNumber> rows;
  const auto add = [&](std::string_view name, std::string text, std::string unit, double scale) {
    const std::optional<double> its = number_of(best, name), of_other = number_of(other, name);
    if (its && of_other) rows.push_back({std::move(text), std::move(unit), scale * *its, scale * *of_other});
  };
  constexpr double kMilliseconds = 1e-3, kGigabytes = 1e-9;
  add("kernels", "kernels", "ms", kMilliseconds);
  add("exposed", "exposed communication", "ms", kMilliseconds);
  for (const std::string& name : exposed_kinds(best, other)) {
    std::string kind = name.substr(kExposedKind.size());
    std::ranges::replace(kind, '_', ' ');
    rows.push_back({"exposed: " + kind, "ms", kMilliseconds * number_of(best, name).value_or(0.0),
                    kMilliseconds * number_of(other, name).value_or(0.0)});
  }
  add("idle", "neither", "ms", kMilliseconds);
  if (rows.empty()) return rows;
  add("bubble", "bubble, mean of GPUs", "ms", kMilliseconds);
  add("memory_needed", "memory", "GB", kGigabytes);
  add("power", "power of a board", "W", 1.0);
  return rows;
}

}  // namespace c3::app
