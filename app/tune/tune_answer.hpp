#pragma once
/// What a search of candidates answers beyond the best one: what else may be chosen, why the best wins, how to
/// start it.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/tune/tuning.hpp"

namespace c3 { inline namespace app {

/// A number of both, as their runs have it.
struct ComparedNumber {
  std::string name;
  std::string unit;
  double best = 0.0, other = 0.0;
  bool is_part = false;  ///< a part of the time; all such parts add up to it

  double saved() const { return other - best; }
};

/// Energy of all boards in its run or step; absent where the power of its GPU is not known.
std::optional<Joules> energy_of(const TunedCandidate& candidate);

/// What its run or step costs, in USD; absent where the price of its node is not known.
std::optional<double> usd_of(const TunedCandidate& candidate);

/// USD for 10^9 tokens; without tokens, of the run. Absent where the price of its node is not known.
std::optional<double> usd_of_work(const TunedCandidate& candidate);
/// What usd_of_work() is of, by \p tuning: "USD/1e9 tokens" or "USD a run".
std::string_view usd_of_work_name(const Tuning& tuning);

/// What its bound leaves of its cost.
double bound_over_cost(Objective objective, const TunedCandidate& candidate);
/// "time" or "energy": of which bounds are, by \p objective.
std::string_view bounded_word(Objective objective);

/// Why \p candidate may not be simulated; empty: it may.
std::string why_impossible(const TuneCandidate& candidate, const TuneGoal& goal);

/// What every key of \p tuning takes, with its \p candidates, by point.
std::vector<TunedValue> tuned_values(const Tuning& tuning, const std::vector<TuneCandidate>& candidates);

/// Position in \p ranking of the best with \p value; absent where none was simulated.
std::optional<std::size_t> best_with(const TunedValue& value, const std::vector<TunedCandidate>& ranking);

/// Positions in \p ranking of those that no other one beats in cost, memory, energy and money together, the
/// best first. One with fewer seeds beats none with more.
std::vector<std::size_t> front_of(const std::vector<TunedCandidate>& ranking);

/// Compares how the times of \p best and \p other divide: kernels, communication that they do not hide, and
/// what is neither, on GPU 0; then memory. Empty where the runs are not of training steps.
std::vector<ComparedNumber> compared(const TunedCandidate& best, const TunedCandidate& other);

/// The part of the time in \p rows by which the best wins most; empty where it wins by none.
std::string why_it_wins(const std::vector<ComparedNumber>& rows);

}}  // namespace c3::app
