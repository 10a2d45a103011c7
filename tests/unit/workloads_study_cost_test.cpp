#include <doctest/doctest.h>

#include "workloads/analysis/study_cost.hpp"

namespace c3::workloads_study_cost_test { namespace {

using Duration = StudyCost::Duration;

TEST_CASE("what is left of a study follows from the mean of each part that has run") {
  StudyCost cost({.seeds = 10, .strategies = 2, .partitions = 2});
  cost.plan(StudyPart::alone, 20);
  cost.plan(StudyPart::together, 20);
  cost.plan(StudyPart::split, 16);
  CHECK(cost.planned() == 56);
  CHECK(cost.left() == Duration{0});  // nothing is known yet
  cost.end(StudyPart::alone, Duration{1});
  cost.end(StudyPart::alone, Duration{3});
  // 18 isolated runs of 2 s; a strategy as long as two of them, 4 s, and so is a run of the loss split.
  CHECK(cost.left().count() == 18 * 2 + 20 * 4 + 16 * 4);
  cost.end(StudyPart::together, Duration{10});
  // Now 19 strategies of 10 s and 16 runs of the split that cost the same.
  CHECK(cost.left().count() == 18 * 2 + 19 * 10 + 16 * 10);
  CHECK(cost.spent().count() == 14);
  CHECK(cost.done() == 3);
}

TEST_CASE("the bound of a simulation holds while it runs") {
  StudyCost cost({});
  cost.plan(StudyPart::alone, 1);
  cost.begin(2.0_ms);
  CHECK(cost.bound() == 2.0_ms);
  cost.end(StudyPart::alone, Duration{1});
  CHECK(cost.bound() == Seconds{});
}

/// A study of one-second simulations.
StudyFactor factor_of(const StudyShape& shape, std::size_t repetitions, std::size_t split = 0) {
  StudyCost cost(shape);
  cost.plan(StudyPart::alone, 2 * repetitions);
  cost.plan(StudyPart::together, shape.partitions * repetitions);
  cost.plan(StudyPart::split, split);
  cost.end(StudyPart::alone, Duration{1});
  cost.end(StudyPart::together, Duration{1});
  return cost.largest_factor();
}

TEST_CASE("the largest factor of a study is what saves most when it goes") {
  CHECK(factor_of({.seeds = 100, .draws = 3, .strategies = 2, .partitions = 2}, 300) == StudyFactor::seeds);
  CHECK(factor_of({.seeds = 3, .draws = 100, .strategies = 2, .partitions = 2}, 300) == StudyFactor::draws);
  CHECK(factor_of({.seeds = 2, .strategies = 1000, .partitions = 1000}, 2) == StudyFactor::strategies);
  CHECK(factor_of({.seeds = 2, .strategies = 1, .partitions = 100}, 2) == StudyFactor::partitions);
  // One seed: 3 simulations besides 32 of the split.
  CHECK(factor_of({.seeds = 1, .strategies = 1, .partitions = 1}, 1, 32) == StudyFactor::loss_split);
  CHECK(factor_of({.seeds = 1, .strategies = 1, .partitions = 1}, 1) == StudyFactor::simulation);
}

}}  // namespace c3::workloads_study_cost_test
