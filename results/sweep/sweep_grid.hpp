#pragma once
/// A sweep's table as a grid: swept keys with their values, and what came out at each combination of them under
/// each strategy, seeds taken together.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results/sweep/swept_keys.hpp"

namespace c3 { inline namespace results {

inline constexpr std::string_view kStrategyAxis = "strategy";

/// One combination of values under one strategy.
struct SweepCase {
  std::vector<std::size_t> levels;  ///< one for every axis of the grid
  std::string strategy;
  std::vector<std::size_t> rows;  ///< rows of the table, one a seed
};

/// A number over seeds.
struct Spread {
  double median = 0;  ///< nearest rank: a run that was simulated
  double low = 0, high = 0;
  std::size_t row = 0;  ///< row of the median
  std::size_t count = 1;
};

/// \p values with the rows they are of. Absent when there are none.
std::optional<Spread> spread_of(std::vector<std::pair<double, std::size_t>> values);

class SweepGrid {
 public:
  /// \p table outlives the grid. \p axes are its swept_keys. \p strategies empty: all
  SweepGrid(const SweepTable& table, std::vector<SweptKey> axes, const std::vector<std::string>& strategies);

  const SweepTable& table() const { return *table_; }
  /// The swept keys but the seed, and where there are several strategies these as the last axis.
  const std::vector<SweptKey>& axes() const { return axes_; }
  const std::vector<std::string>& strategies() const { return strategies_; }
  /// Places of those that take several values and depend on no other.
  std::vector<std::size_t> free_axes() const;
  /// Cases in the order of the table, strategies of one point together.
  const std::vector<SweepCase>& cases() const { return cases_; }
  std::size_t seeds() const { return seeds_; }
  std::optional<std::size_t> axis(std::string_view name) const;

  /// The value of a metric: `NUMBER` of the case's strategy, `STRATEGY.NUMBER`, or a swept number. Absent where
  /// no seed has it.
  std::optional<Spread> value(const SweepCase& at, const std::string& metric) const;
  /// Why there is no value: the first status that is not ok, else "no value".
  std::string status(const SweepCase& at) const;
  const ColumnData* column(const std::string& strategy, const std::string& metric) const;

 private:
  void add_cases();

  const SweepTable* table_;
  std::vector<SweptKey> axes_;
  std::vector<std::string> strategies_;
  std::vector<SweepCase> cases_;
  std::size_t seeds_ = 1;
  std::map<std::string, const ColumnData*, std::less<>> columns_;
};

/// Every strategy that \p table has numbers of, in its order.
std::vector<std::string> strategies_of(const SweepTable& table);

/// The numbers without the strategy's name, each once; then `STRATEGY.NUMBER`; then swept numbers.
std::vector<std::string> metrics_of(const SweepTable& table);

}}  // namespace c3::results
