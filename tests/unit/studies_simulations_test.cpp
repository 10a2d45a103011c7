#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/errors.hpp"
#include "studies/simulations.hpp"
#include "tests/support/near.hpp"

namespace c3::studies_simulations_test { namespace {

const StudyProgress kQuiet = [](std::size_t, std::size_t) {};

TEST_CASE("what jobs find comes back in their order, whatever number of processes there is") {
  constexpr std::size_t kJobs = 37;
  for (const std::size_t processes : {0, 1, 2, 5, 100}) {
    CAPTURE(processes);
    std::vector<SimulatedTime> found;
    SimulationJobs jobs;
    for (std::size_t i = 0; i < kJobs; ++i) {
      const auto run = [i] {
        SimulatedTime simulated{.said = "job " + std::to_string(i)};
        if (i % 2 == 0) simulated.time = Seconds{0.1 * static_cast<double>(i)};
        simulated.values.assign(i + 1, 1.0 / static_cast<double>(i + 1));
        return simulated;
      };
      jobs.push_back({.run = run, .take = [&found](const SimulatedTime& taken) { found.push_back(taken); }});
    }
    run_simulations(jobs, kQuiet, processes);
    REQUIRE(found.size() == kJobs);
    for (std::size_t i = 0; i < kJobs; ++i) {
      CHECK(found[i].said == "job " + std::to_string(i));
      CHECK(found[i].time.has_value() == (i % 2 == 0));
      CHECK(found[i].values == std::vector<double>(i + 1, 1.0 / static_cast<double>(i + 1)));
    }
  }
}

/// Runs one job. \returns what came of it.
SimulatedTime run_one(const std::function<SimulatedTime()>& run) {
  SimulatedTime found;
  run_simulations({{.run = run, .take = [&found](const SimulatedTime& taken) { found = taken; }}}, kQuiet);
  return found;
}

TEST_CASE("a value that is not a number comes back as it is") {
  const SimulatedTime found = run_one([] {
    return SimulatedTime{.values = {std::numeric_limits<double>::quiet_NaN(), -0.0}};
  });
  REQUIRE(found.values.size() == 2);
  CHECK(std::isnan(found.values[0]));
  CHECK(std::signbit(found.values[1]));
}

TEST_CASE("an infeasible scenario is a result without a time and values") {
  const SimulatedTime found = run_one([]() -> SimulatedTime { throw InfeasibleError("no room"); });
  CHECK_FALSE(found.time.has_value());
  CHECK(found.values.empty());
  CHECK(found.said == "no room");
}

TEST_CASE("a job that finds nothing, or more than there is room for, is an error") {
  CHECK_THROWS_WITH_AS(run_one([] { return SimulatedTime{}; }),
                       "a simulation ended with neither a time nor values", std::runtime_error);
  CHECK(run_one([] {
          return SimulatedTime{.values = std::vector<double>(SimulatedTime::kMostValues, 1.0)};
        }).values.size() == SimulatedTime::kMostValues);
  CHECK_THROWS_WITH_AS(
      run_one([] { return SimulatedTime{.values = std::vector<double>(SimulatedTime::kMostValues + 1)}; }),
      "a simulation ended with 241 values, and 240 fit", std::runtime_error);
}

}}  // namespace c3::studies_simulations_test
