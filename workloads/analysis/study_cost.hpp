#pragma once
/// How long the simulations of a study take, predicted from those that have run.

#include <array>
#include <chrono>
#include <cstddef>

#include "engine/units.hpp"

namespace c3 { inline namespace workloads {

/// Simulations of a study that take about the same time each.
enum class StudyPart {
  alone,     ///< kernels, collectives or one stream by themselves
  together,  ///< a strategy
  split,     ///< a strategy with private copies of some resources, for the loss split
  recorded,  ///< a strategy once more, with its timeline written
};

/// What the cost of a study grows with.
enum class StudyFactor { seeds, draws, strategies, partitions, loss_split, simulation };

/// What multiplies to the number of simulations.
struct StudyShape {
  int seeds = 1;
  int draws = 0;  ///< 0: nominal values only
  std::size_t strategies = 1;
  std::size_t partitions = 1;  ///< values tried for CU partitions, summed over strategies
};

/// Counts simulations and measures how long they take, by part. The mean of a part predicts what is left of it;
/// a part of which nothing has run is predicted from the others (`left`). Wrong when: strategies differ much in
/// cost, until one of each has run.
class StudyCost {
 public:
  using Duration = std::chrono::duration<double>;

  explicit StudyCost(StudyShape shape) : shape_(shape) {}

  void plan(StudyPart part, std::size_t runs) { of(part).planned += runs; }
  /// A simulation begins that no physics lets end before \p bound (0: unknown) of simulated time.
  void begin(Seconds bound);
  /// The simulation that began last has ended, after \p took of wall time.
  void end(StudyPart part, Duration took);

  const StudyShape& shape() const { return shape_; }
  std::size_t done() const;
  std::size_t planned() const;
  std::size_t planned(StudyPart part) const { return parts_.at(static_cast<std::size_t>(part)).planned; }
  Duration spent() const;
  /// Of what is planned and has not run, by the mean of its part. A part without a mean: strategies take as
  /// long as two isolated sides, private copies and recorded runs as long as strategies.
  Duration left() const;
  /// What all planned simulations of \p part take.
  Duration total(StudyPart part) const;
  Duration total() const { return spent() + left(); }
  /// The factor without which most of the total would be saved: one seed, no draws, one strategy, one partition
  /// for each strategy, no loss split. A single simulation where none of them would save half.
  StudyFactor largest_factor() const;
  Seconds bound() const { return bound_; }  ///< of the simulation that runs now

 private:
  struct Part {
    std::size_t planned = 0, done = 0;
    Duration spent{};
  };
  Part& of(StudyPart part) { return parts_.at(static_cast<std::size_t>(part)); }
  const Part& of(StudyPart part) const { return parts_.at(static_cast<std::size_t>(part)); }
  Duration mean(StudyPart part) const;

  StudyShape shape_;
  std::array<Part, 4> parts_{};
  Seconds bound_;
};

}}  // namespace c3::workloads
