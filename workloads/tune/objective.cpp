#include "workloads/tune/objective.hpp"

#include <algorithm>

namespace c3 { inline namespace workloads {

bool needs_tokens(Objective objective) { return is_most(objective); }  // which are all rates of tokens

bool needs_price(Objective objective) {
  return objective == Objective::tokens_per_usd || objective == Objective::usd;
}

bool needs_power(Objective objective) {
  return objective == Objective::tokens_per_j || objective == Objective::energy;
}

bool is_most(Objective objective) {
  return objective != Objective::time && objective != Objective::usd && objective != Objective::energy;
}

Objective of_a_run(Objective objective) {
  if (needs_price(objective)) return Objective::usd;
  return needs_power(objective) ? Objective::energy : Objective::time;
}

double usd_of(Seconds time, const CandidateSize& size) {
  constexpr double kSecondsPerHour = 3600.0;
  return time.value / kSecondsPerHour * size.gpus * size.usd_per_gpu_hour;
}

double cost_of(Objective objective, const Expense& expense, const CandidateSize& size) {
  const Seconds time = expense.time;
  const auto tokens = static_cast<double>(size.tokens);
  switch (objective) {
    case Objective::tokens_per_s:
      return time.value / tokens;
    case Objective::tokens_per_s_per_gpu:
      return time.value * size.gpus / tokens;
    case Objective::tokens_per_usd:
      return usd_of(time, size) / tokens;
    case Objective::usd:
      return usd_of(time, size);
    case Objective::tokens_per_j:
      return expense.energy.value / tokens;
    case Objective::energy:
      return expense.energy.value;
    default:
      return time.value;
  }
}

std::size_t cheapest(Objective objective, std::span<const Expense> expenses, const CandidateSize& size) {
  const auto least = std::ranges::min_element(
      expenses, {}, [&](const Expense& expense) { return cost_of(objective, expense, size); });
  return static_cast<std::size_t>(least - expenses.begin());
}

double value_of(Objective objective, double cost) { return is_most(objective) ? 1.0 / cost : cost; }

std::string_view unit_of(Objective objective) {
  switch (objective) {
    case Objective::tokens_per_s:
      return "tokens/s";
    case Objective::tokens_per_s_per_gpu:
      return "tokens/s/GPU";
    case Objective::tokens_per_usd:
      return "tokens/USD";
    case Objective::usd:
      return "USD";
    case Objective::tokens_per_j:
      return "tokens/J";
    case Objective::energy:
      return "J";
    default:
      return "s";
  }
}

}}  // namespace c3::workloads
