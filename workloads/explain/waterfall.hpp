#pragma once
/// From the peak of a GPU down to what it reaches: parts of a run's time that add up to it.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/enum_names.hpp"
#include "workloads/explain/explained_run.hpp"

namespace c3::inline workloads {

/// How a part was found.
enum class PartMethod {
  closed_form,     ///< from shapes and data sheets
  interval_union,  ///< from the intervals of the run in which every cause is impossible
  counterfactual,  ///< simulated again with its cause made impossible
};
constexpr auto enum_names(PartMethod) {
  return std::to_array<EnumName<PartMethod>>({{"closed form", PartMethod::closed_form},
                                              {"interval union", PartMethod::interval_union},
                                              {"counterfactual", PartMethod::counterfactual}});
}

struct WaterfallPart {
  std::string name;
  PartMethod method = PartMethod::interval_union;
  Seconds time;
  /// Of a cause: what is saved by making it impossible where causes go one after another in their order, and in
  /// the reverse order. `time` is the mean of both.
  std::optional<Seconds> in_order = std::nullopt, reversed = std::nullopt;
};

struct Waterfall {
  /// The flops of the model, or without one of all products, at the peak; 0 where no product has a shape.
  Seconds at_peak;
  Seconds time;  ///< of the run: at_peak and all parts
  std::vector<WaterfallPart> parts;

  /// What is reached of the peak; absent where no flops are known.
  std::optional<double> reached() const;
  /// What would be reached with at_peak and the first \p parts parts only.
  std::optional<double> reached_before(std::size_t parts) const;
  /// How much the parts depend on the order in which causes are removed: the sum over causes of half the
  /// difference between both orders.
  Seconds interaction() const;
};

/// Sets of causes, a bit each by position, that are made impossible together.
using CauseSet = std::uint32_t;

/// The sets to run for \p causes causes: one after another made impossible in their order, none first, then in
/// the reverse order. All of them at once are at position \p causes.
std::vector<CauseSet> cause_chains(std::size_t causes);
std::vector<Cause> causes_in(CauseSet set, const std::vector<Cause>& causes);

/// What waterfall_of() needs to know.
struct WaterfallRuns {
  std::vector<Cause> causes;
  std::vector<ExplainedRun> chains;  ///< of cause_chains()
  /// With every cause impossible and nothing recomputed; absent where nothing is recomputed.
  std::optional<ExplainedRun> without_recomputation = std::nullopt;
  KernelWork work;                                      ///< of the experiment without recomputation
  std::optional<Seconds> model_at_peak = std::nullopt;  ///< of a training step
};

/// Causes are removed one after another in their order and in the reverse one; a part is the mean of both,
/// which is its Shapley value wherever no three causes interact beyond their pairs, and both orders add up. The
/// rest is the run in which every cause is impossible: unions of intervals of its kernels by class, and what is
/// neither. Source: Shapley, "A value for n-person games", 1953; antithetic orders: Mitchell et al., JMLR 23
/// (2022),
/// 43. Parts may be negative: a cause whose removal makes others worse.
Waterfall waterfall_of(const WaterfallRuns& runs);

}  // namespace c3::workloads
