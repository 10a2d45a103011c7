#pragma once
/// Lower bounds of an experiment's strategies and draws, each found once.

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "workloads/analysis/lower_bound.hpp"

namespace c3 { inline namespace workloads {

class StudyBounds {
 public:
  /// \param experiments one for each draw, with the same strategies; they outlive it
  explicit StudyBounds(const std::vector<Experiment>& experiments) : experiments_(experiments) {}

  /// What no run of \p strategy in \p draw may beat. \throws InfeasibleError as lower_bound
  Seconds of(const Strategy& strategy, std::size_t draw);
  /// \throws std::logic_error for a \p time below that
  void check(const Strategy& strategy, std::size_t draw, Seconds time);
  /// Of the first draw, for the progress: nothing where it is not known, or where smaller steps may run.
  LowerBound if_known(const Strategy& strategy);

 private:
  const LowerBound& bound(const Strategy& strategy, std::size_t draw);

  const std::vector<Experiment>& experiments_;
  std::map<std::pair<const Strategy*, std::size_t>, LowerBound> known_;  ///< by strategy and draw
};

/// What of \p bound holds for the time of \p strategy.
Seconds of(const Strategy& strategy, const LowerBound& bound);

}}  // namespace c3::workloads
