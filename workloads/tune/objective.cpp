#include "workloads/tune/objective.hpp"

namespace c3::inline workloads {

double cost_of(Objective objective, Seconds time, const CandidateSize& size) {
  const auto tokens = static_cast<double>(size.tokens);
  switch (objective) {
    case Objective::tokens_per_s:
      return time.value / tokens;
    case Objective::tokens_per_s_per_gpu:
      return time.value * size.gpus / tokens;
    default:
      return time.value;
  }
}

double value_of(Objective objective, double cost) { return objective == Objective::time ? cost : 1.0 / cost; }

std::string_view unit_of(Objective objective) {
  if (objective == Objective::time) return "s";
  return objective == Objective::tokens_per_s ? "tokens/s" : "tokens/s/GPU";
}

}  // namespace c3::workloads
