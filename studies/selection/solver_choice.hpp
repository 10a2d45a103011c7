#pragma once
/// The part of `reproduce selection` that chooses MIOpen's kernels of convolutions.

#include <map>
#include <string>
#include <vector>

#include "studies/jobs.hpp"
#include "studies/selection/solver_baselines.hpp"
#include "studies/selection/solver_table.hpp"
#include "studies/study.hpp"

namespace c3 { inline namespace studies {

/// Chooses for each fifth of a GPU's layers by what the other four fifths teach; all batches, types and passes
/// of a layer are on one side.
class SolverChoice {
 public:
  explicit SolverChoice(const SolverTable& of);

  /// None where the table has too few layers: its figures stay without a number then.
  void plan(Jobs& jobs);

  StudySection listed(const PublishedFigures& published) const;  ///< among the kernels that the find-db lists
  StudySection parts(const PublishedFigures& published) const;   ///< the same by type and pass
  StudySection open(const PublishedFigures& published) const;    ///< among all kernels seen for the kind

 private:
  void choose(const Rows& fitted, const Rows& held_out);

  const SolverTable& of_;
  bool was_chosen_ = false;
  std::vector<Picks> by_rule_;     ///< shape [rules][problems]
  Picks learned_, shipped_;        ///< place among the listed, by problem; by many trees, by those shipped
  std::vector<std::size_t> open_;  ///< place among the listed; their number: none of them
};

}}  // namespace c3::studies
