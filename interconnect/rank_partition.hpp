#pragma once
/// Which ranks one simulated GPU stands for.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace c3 { inline namespace interconnect {

/// Ranks in order, by neighbours: half open.
using RankRanges = std::vector<std::pair<int, int>>;

int count_of(const RankRanges& ranks);

/// The ranks of either, which have none in common; neighbours in one range.
RankRanges united(RankRanges a, const RankRanges& b);

/// "0-3, 9" or, of many that are equally far apart, "0-3, 8-11 .. 1016-1019".
std::string text_of(const RankRanges& ranks);

/// Ranks in classes, of each of which one member, its representative, is simulated for all.
class RankPartition {
 public:
  /// \p classes by rank, numbered in the order of their lowest ranks. \throws std::logic_error where they are
  /// numbered otherwise
  explicit RankPartition(std::vector<std::uint32_t> classes);

  /// Every rank is a class of its own.
  static RankPartition each(int ranks);
  /// All are one class.
  static RankPartition together(int ranks);

  int ranks() const { return static_cast<int>(class_of_.size()); }
  int classes() const { return static_cast<int>(lowest_.size()); }
  int class_of(int rank) const { return static_cast<int>(class_of_[static_cast<std::size_t>(rank)]); }
  int representative(int number) const { return lowest_[static_cast<std::size_t>(number)]; }
  int members(int number) const { return members_[static_cast<std::size_t>(number)]; }
  /// The representative of \p rank's class.
  int stand_in(int rank) const { return representative(class_of(rank)); }
  /// How many ranks the class of \p rank has.
  int alike(int rank) const { return members(class_of(rank)); }
  /// The members of each class.
  std::vector<RankRanges> ranges() const;

  bool operator==(const RankPartition&) const = default;

 private:
  std::vector<std::uint32_t> class_of_;
  std::vector<int> lowest_;   ///< lowest rank of each class
  std::vector<int> members_;  ///< number of ranks in each class
};

}}  // namespace c3::interconnect
