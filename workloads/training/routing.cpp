#include "workloads/training/routing.hpp"

#include <algorithm>
#include <cmath>

namespace c3 { inline namespace workloads {
namespace {

/// The chance that none of \p chosen out of \p all is among the \p here ones of a rank.
double chance_of_none(std::int64_t all, std::int64_t here, std::int64_t chosen) {
  double none = 1.0;
  for (std::int64_t i = 0; i < chosen; ++i)
    none *= std::max(0.0, static_cast<double>(all - here - i)) / static_cast<double>(all - i);
  return none;
}

std::int64_t rounded(double count) { return std::llround(std::ceil(count - 1e-9)); }

}  // namespace

double destinations(const ExpertDimensions& experts, int ranks) {
  const std::int64_t here = experts.experts / ranks;
  const bool is_within_group = ranks % experts.groups == 0;
  const std::int64_t groups = is_within_group ? experts.groups : 1;
  const std::int64_t chosen = is_within_group ? experts.groups_per_token : 1;
  const std::int64_t open = experts.experts / groups * chosen;
  const double hit = 1.0 - chance_of_none(open, here, experts.per_token);
  return ranks * (static_cast<double>(chosen) / static_cast<double>(groups)) * hit;
}

// With a capacity every expert gets as many rows from every rank, empty ones included
// (megatron/core/transformer/moe/moe_utils.py, get_capacity; moe_pad_expert_input_to_capacity).
RoutedTokens balanced_tokens(const TrainingSetup& setup) {
  const ExpertDimensions& model = setup.model.experts.value();
  const ExpertSetup& experts = setup.experts;
  const std::int64_t tokens = setup.tokens_between();
  const std::int64_t sharers = setup.expert_tensor_parallel();
  RoutedTokens routed{
      .dispatch = experts.dispatch, .sent = tokens * model.per_token, .multiple_of = experts.padding};
  if (experts.capacity_factor > 0.0) {
    const double even = static_cast<double>(routed.sent) / static_cast<double>(model.experts);
    routed.sent = model.experts * rounded(even * experts.capacity_factor);
  }
  routed.rows = routed.received = routed.sent * sharers;
  if (experts.dispatch == Dispatch::allgather) routed.received = tokens * experts.ranks * sharers;
  if (experts.dispatch == Dispatch::deepep || experts.dispatch == Dispatch::hybridep)
    routed.received = rounded(static_cast<double>(tokens * sharers) * destinations(model, experts.ranks));
  return routed;
}

RoutedTokens routed_tokens(const TrainingSetup& setup, ExpertPosition at, std::int64_t layer) {
  RoutedTokens routed = balanced_tokens(setup);
  if (at.loads == nullptr || setup.experts.capacity_factor > 0.0) return routed;
  const double busy = at.loads->share(layer, at.number) * setup.experts.ranks;
  const auto scaled = [&](std::int64_t count) {
    return std::max<std::int64_t>(1, std::llround(static_cast<double>(count) * busy));
  };
  routed.rows = scaled(routed.rows);
  if (setup.experts.dispatch != Dispatch::allgather) routed.received = scaled(routed.received);
  return routed;
}

}}  // namespace c3::workloads
