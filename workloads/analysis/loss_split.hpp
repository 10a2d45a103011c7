#pragma once
/// Where a strategy's time beyond ideal goes: counterfactual runs with private resources.

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "workloads/analysis/loss.hpp"
#include "workloads/execute/run.hpp"

namespace c3 { inline namespace workloads {

/// Resources that at least two streams of \p strategy share; giving copies of others changes nothing.
std::vector<SharedResource> shared_resources(const Experiment& experiment, const Strategy& strategy);

/// Medians over seeds, between which the loss lies.
struct LossBounds {
  Seconds together;  ///< of the strategy, with nothing private
  Seconds ideal;
};

/// Gives each stream a private copy of every subset of the resources that the strategy shares, and averages
/// over the orders in which they can be given (Shapley value), so that effects that need two resources are
/// divided fairly and the parts add up to what all copies together save. `interaction` is the rest of the time
/// beyond the ideal: what stays when nothing is shared, such as a slower backend or launch gaps. The time with
/// each subset is the median over \p seeds by nearest rank, as StrategyResult::time is, so that the parts add
/// up to that time less the ideal. Source: Shapley, "A value for n-person games", 1953. \p ran is called after
/// each simulated run.
LossSplit split_loss(const Experiment& experiment, const Strategy& strategy, const CuChoice& cus,
                     std::span<const std::uint64_t> seeds, const LossBounds& bounds,
                     const std::function<void()>& ran);

/// Simulated runs that split_loss() makes for each seed: one for each subset that is not empty.
std::size_t loss_split_runs(const Experiment& experiment, const Strategy& strategy);

}}  // namespace c3::workloads
