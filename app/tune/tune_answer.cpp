#include "app/tune/tune_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <ranges>

#include "app/sweep/sweep_run.hpp"
#include "results/ranking.hpp"

namespace c3 { inline namespace app {
namespace {

std::optional<double> number_of(const TunedCandidate& candidate, std::string_view name) {
  const auto found = std::ranges::find(candidate.numbers, name, &PointNumber::name);
  return found == candidate.numbers.end() ? std::nullopt : std::optional(found->value);
}

constexpr std::string_view kExposedKind = "exposed_";

/// Numbers of exposed communication by kind that either has.
std::vector<std::string> exposed_kinds(const TunedCandidate& best, const TunedCandidate& other) {
  std::vector<std::string> names;
  for (const TunedCandidate* candidate : {&best, &other})
    for (const PointNumber& number : candidate->numbers)
      if (number.name.starts_with(kExposedKind) && std::ranges::find(names, number.name) == names.end())
        names.push_back(number.name);
  return names;
}

/// Whether \p a, which ranks before \p b, is no worse in anything that is known of both, and better in
/// something.
bool beats(const TunedCandidate& a, const TunedCandidate& b) {
  bool is_better = a.cost != b.cost;
  const auto is_no_worse = [&](double cost, double other) {
    is_better = is_better || cost < other;
    return cost <= other;
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

std::string why_impossible(const TuneCandidate& candidate, const TuneGoal& goal) {
  const CandidateFacts& facts = candidate.facts;
  if (!candidate.refused.empty()) return candidate.refused;
  if (goal.most_gpus && facts.size.gpus > *goal.most_gpus)
    return fmt::format("it needs {} GPUs, tune.most_gpus is {}", facts.size.gpus, *goal.most_gpus);
  return facts.fits ? "" : fmt::format("it needs {:.1f} GB of each GPU", facts.needed.value / 1e9);
}

std::vector<TunedValue> tuned_values(const Tuning& tuning, const std::vector<TuneCandidate>& candidates) {
  const Sweep& sweep = tuning.plan.sweep;
  std::vector<TunedValue> values;
  for (std::size_t axis = 0; axis < sweep.names().size(); ++axis) {
    const auto first = static_cast<std::ptrdiff_t>(values.size());
    for (const std::size_t point : points_of(tuning.plan, {})) {
      const std::string text = sweep.texts(sweep.points()[point])[axis];
      auto value = std::ranges::find(values.begin() + first, values.end(), text, &TunedValue::text);
      if (value == values.end()) value = values.insert(value, {.key = sweep.names()[axis], .text = text});
      value->points.push_back(point);
      const std::string why = why_impossible(candidates[point], tuning.goal);
      if (why.empty()) {
        const double price = candidates[point].facts.size.usd_per_gpu_hour;
        value->usd_per_gpu_hour = value->possible == 0 || value->usd_per_gpu_hour == price ? price : 0.0;
        ++value->possible;
      } else if (value->why_impossible.empty()) {
        value->why_impossible = why;
      }
    }
  }
  return values;
}

std::optional<std::size_t> best_with(const TunedValue& value, const std::vector<TunedCandidate>& ranking) {
  const auto found = std::ranges::find_if(ranking, [&](const TunedCandidate& candidate) {
    return std::ranges::find(value.points, candidate.what.point) != value.points.end();
  });
  if (found == ranking.end()) return std::nullopt;
  return static_cast<std::size_t>(found - ranking.begin());
}

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
  const auto add = [&](std::string_view name, std::string text, std::string unit, double scale, bool is_part) {
    const std::optional<double> of_best = number_of(best, name), of_other = number_of(other, name);
    if (of_best && of_other)
      rows.push_back({std::move(text), std::move(unit), scale * *of_best, scale * *of_other, is_part});
  };
  constexpr double kMilliseconds = 1e-3, kGigabytes = 1e-9;
  const std::vector<std::string> kinds = exposed_kinds(best, other);
  add("kernels", "kernels", "ms", kMilliseconds, true);
  add("exposed", "exposed communication", "ms", kMilliseconds, kinds.empty());
  for (const std::string& name : kinds) {
    std::string kind = name.substr(kExposedKind.size());
    std::ranges::replace(kind, '_', ' ');
    rows.push_back({"exposed: " + kind, "ms", kMilliseconds * number_of(best, name).value_or(0.0),
                    kMilliseconds * number_of(other, name).value_or(0.0), true});
  }
  add("idle", "neither", "ms", kMilliseconds, true);
  if (rows.empty()) return rows;
  add("bubble", "bubble, mean of GPUs", "ms", kMilliseconds, false);
  add("memory_needed", "memory", "GB", kGigabytes, false);
  add("power", "power of a board", "W", 1.0, false);
  return rows;
}

std::string why_it_wins(const std::vector<ComparedNumber>& rows) {
  std::vector<ComparedNumber> parts;
  std::ranges::copy_if(rows, std::back_inserter(parts), &ComparedNumber::is_part);
  constexpr double kShown = 0.05;  // ms
  const ComparedNumber* const most = first_of(parts, &ComparedNumber::saved, kShown);
  return most == nullptr ? "" : fmt::format("the best saves most of {}: {:.1f} ms", most->name, most->saved());
}

}}  // namespace c3::app
