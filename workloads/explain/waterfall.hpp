#pragma once
/// From the peak of a GPU down to what it reaches: parts of a run's time that add up to it.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/enum_names.hpp"
#include "workloads/explain/explained_run.hpp"

namespace c3 { inline namespace workloads {

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
  /// Of a cause: what is saved by making it impossible in the first and in the second of cause_orders(). `time`
  /// is the mean of both.
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

/// What all interference together adds to a run: by how much kernels become longer, in which at least one runs,
/// and by how much the time beside them grows, which is exposed communication and waiting.
struct InterferenceSplit {
  Seconds kernels, beside;
};

/// Sets of causes, a bit each by position, that are made impossible together.
using CauseSet = std::uint32_t;

/// Positions of causes in the order in which they are made impossible, one after another.
using CauseOrder = std::vector<std::size_t>;

/// The two orders over which parts are averaged. What is nothing without another cause comes before it in both:
/// the queue of work groups before CUs, since it holds up nothing where each stream has CUs of its own, and all
/// interference before the rest, since it needs something to interfere with. Else the order is that of \p
/// causes in one and its reverse in the other.
std::array<CauseOrder, 2> cause_orders(const std::vector<Cause>& causes);
/// No cause, the first of \p order, the first two .. all of them.
std::vector<CauseSet> sets_along(const CauseOrder& order);
std::vector<Cause> causes_in(CauseSet set, const std::vector<Cause>& causes);

/// What waterfall_of() needs to know.
struct WaterfallRuns {
  std::vector<Cause> causes;
  std::map<CauseSet, ExplainedRun> runs;  ///< with each of sets_along() both orders impossible
  /// With every cause impossible and nothing recomputed; absent where nothing is recomputed.
  std::optional<ExplainedRun> without_recomputation = std::nullopt;
  KernelWork work;                                      ///< of the experiment without recomputation
  std::optional<Seconds> model_at_peak = std::nullopt;  ///< of a training step
};

/// Causes are removed one after another in both of cause_orders(); a part is the mean of both, and either order
/// adds up. That is the Shapley value under the precedence of interference wherever no three causes interact
/// beyond their pairs. The rest is the run in which every cause is impossible: unions of intervals of its
/// kernels by class, and what is neither. Sources: Shapley, "A value for n-person games", 1953; precedence:
/// Faigle and Kern, International Journal of Game Theory 21 (1992), 249; antithetic orders: Mitchell et al.,
/// JMLR 23 (2022), 43. Parts may be negative: a cause whose removal makes others worse.
Waterfall waterfall_of(const WaterfallRuns& runs);

/// Of runs of one average GPU; absent without a cause of interference.
std::optional<InterferenceSplit> interference_split(const WaterfallRuns& runs);

}}  // namespace c3::workloads
