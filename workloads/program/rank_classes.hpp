#pragma once
/// Which ranks of a program cannot be told apart, so that one of them may stand for all.

#include <cstdint>
#include <utility>
#include <vector>

#include "workloads/program/program.hpp"

namespace c3::inline workloads {

/// Ranks that run one script and meet alike ranks in every group and on every node.
struct RankClass {
  std::uint32_t script = 0;
  std::vector<std::pair<int, int>> ranks;  ///< in order, half open

  int representative() const { return ranks.front().first; }  ///< the lowest
  int multiplicity() const;                                   ///< how many they are

  bool operator==(const RankClass&) const = default;
};

/// The coarsest partition of the ranks in which two ranks of a class
/// - run the same script,
/// - belong, for every way in which calls group ranks, to groups that lie as much on one node or on several,
/// hold
///   as many ranks of each class there, and treat both alike (a root differs from the others),
/// - send to ranks of the same classes, and receive from such,
/// - share their node with as many ranks of each class.
/// Found by colour refinement over groups; a group is never written out pair by pair, so that it costs ranks x
/// ways of grouping x rounds. Positions within a group do not matter: a collective begins when all its members
/// have joined and ends for all at once, so that a position reaches others only through loads, which may be
/// averaged (folding "mean"). Wrong when: members of a group end at different dates, as transfers do at grain
/// "step". \param node_gpus ranks of a node, which are neighbours. \param apart by rank, numbers of ranks that
/// something else tells apart; empty: nothing does.
class RankClasses {
 public:
  RankClasses(const Program& program, int ranks, int node_gpus, const std::vector<std::uint32_t>& apart = {});

  const std::vector<RankClass>& all() const { return classes_; }  ///< in the order of their lowest ranks
  std::size_t number_of(int rank) const { return numbers_[static_cast<std::size_t>(rank)]; }
  const std::vector<std::uint32_t>& numbers() const { return numbers_; }  ///< by rank
  /// Ranks for each class, on average.
  double factor() const { return static_cast<double>(numbers_.size()) / static_cast<double>(classes_.size()); }

 private:
  std::vector<std::uint32_t> numbers_;  ///< by rank
  std::vector<RankClass> classes_;
};

}  // namespace c3::workloads
