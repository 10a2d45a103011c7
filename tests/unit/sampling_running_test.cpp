// Sampling while a program runs: when a class of kernels is known, and how far the sum may be off.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "engine/random.hpp"
#include "tests/support/near.hpp"
#include "tests/support/print_units.hpp"
#include "workloads/sampling/confidence.hpp"
#include "workloads/sampling/running_samples.hpp"

namespace c3::sampling_running_test {

using namespace literals;

namespace {

constexpr double kError = 0.05, kConfidence = 0.95;

TEST_CASE("Student's quantiles are those of the tables, and a normal variable's for many degrees") {
  CHECK(student_quantile(0.95, 1) == near(12.7062, 1e-5));
  CHECK(student_quantile(0.95, 2) == near(4.30265, 1e-5));
  CHECK(student_quantile(0.95, 5) == near(2.57058, 1e-5));
  CHECK(student_quantile(0.99, 10) == near(3.16927, 1e-5));
  CHECK(student_quantile(0.95, 10'000) == near(normal_quantile(0.95), 1e-3));
}

TEST_CASE("kernels that do not vary are known after three draws, not before") {
  RunningSamples samples(kError, kConfidence);
  const std::size_t kernel_class = samples.add_class();
  for (int i = 0; i < 3; ++i) {
    CHECK(!samples.is_known(kernel_class));
    samples.add_simulated(kernel_class, 7.0_us);
  }
  CHECK(samples.is_known(kernel_class));
  CHECK(samples.draw(kernel_class, 12345) == 7.0_us);
}

// With all N = n kernels simulated so far: n (0.85 error mu / t)^2 >= sigma^2 (1 + 2).
TEST_CASE("one class takes 3 (t sigma / (0.85 error mu))^2 draws before the first is replayed") {
  RunningSamples samples(kError, kConfidence);
  const std::size_t kernel_class = samples.add_class();
  std::vector<double> drawn;
  const auto needed = [&] {
    const auto count = static_cast<double>(drawn.size());
    const double mean = std::accumulate(drawn.begin(), drawn.end(), 0.0) / count;
    double squares = 0.0;
    for (const double one : drawn)
      squares += (one - mean) * (one - mean);
    const double t = student_quantile(kConfidence, static_cast<int>(drawn.size()) - 1);
    return 3.0 * squares / (count - 1.0) * t * t / (0.85 * 0.85 * kError * kError * mean * mean);
  };
  while (!samples.is_known(kernel_class)) {
    if (drawn.size() >= 3) CHECK(needed() > static_cast<double>(drawn.size()));
    drawn.push_back(drawn.size() % 2 == 0 ? 0.9e-6 : 1.1e-6);
    samples.add_simulated(kernel_class, Seconds{drawn.back()});
    REQUIRE(drawn.size() < 1000);
  }
  // Some 3 (2 x 0.1 / 0.0425)^2 = 66.
  CHECK(drawn.size() > 60);
  CHECK(drawn.size() < 75);
  CHECK(needed() <= static_cast<double>(drawn.size()));
}

// Two equal classes, each with n of n simulated: n (0.85 error 2 mu / t)^2 >= sigma^2 (2 + 4), half as many.
TEST_CASE("each of two equal classes takes half as many draws as one class alone") {
  RunningSamples samples(kError, kConfidence);
  const std::array<std::size_t, 2> classes{samples.add_class(), samples.add_class()};
  int draws = 0;
  for (; !samples.is_known(classes[1]); ++draws) {
    REQUIRE(draws < 1000);
    for (const std::size_t kernel_class : classes)
      samples.add_simulated(kernel_class, draws % 2 == 0 ? 0.9_us : 1.1_us);
  }
  const double spread = 0.1, t = student_quantile(kConfidence, draws - 1);
  const double needed = 1.5 * spread * spread * t * t / (0.85 * 0.85 * kError * kError);
  CHECK(draws >= needed);
  CHECK(draws < needed + 3.0);
}

TEST_CASE("a class that is little of the whole is known after fewer draws than by itself") {
  RunningSamples samples(kError, kConfidence);
  const std::size_t large = samples.add_class(), small = samples.add_class();
  for (int i = 0; i < 100; ++i)
    samples.add_simulated(large, 100.0_us);
  for (int i = 0; i < 4; ++i)
    samples.add_simulated(small, i % 2 == 0 ? 0.5_us : 1.5_us);
  CHECK(samples.is_known(small));
  RunningSamples alone(kError, kConfidence);
  const std::size_t kernel_class = alone.add_class();
  for (int i = 0; i < 4; ++i)
    alone.add_simulated(kernel_class, i % 2 == 0 ? 0.5_us : 1.5_us);
  CHECK(!alone.is_known(kernel_class));
}

TEST_CASE("three draws of 9, 10 and 11 that stand for three more let expect t sqrt(3 x (3 / 3 + 2))") {
  RunningSamples samples(kError, kConfidence);
  const std::size_t kernel_class = samples.add_class();
  for (const Seconds time : {9.0_us, 10.0_us, 11.0_us})
    samples.add_simulated(kernel_class, time);
  CHECK(samples.expected_error().value == 0.0);  // nothing was replayed
  for (int i = 0; i < 3; ++i)
    samples.add_replayed(kernel_class, 10.0_us);
  CHECK(samples.expected_error() / 1.0_us == near(student_quantile(kConfidence, 2) * 3.0, 1e-9));
  CHECK(samples.replayed() == 3);
  CHECK(samples.replayed_time() / 1.0_us == near(30.0));
}

/// A run of `spread` classes, kernels in turn: those that are known are replayed.
struct Outcome {
  double error = 0.0;  ///< of the sum
  std::size_t simulated = 0;
};

Outcome run(std::uint64_t seed, const std::vector<double>& spreads) {
  constexpr int kTurns = 400;
  RunningSamples samples(kError, kConfidence);
  std::vector<RandomStream> streams;
  for (std::size_t i = 0; i < spreads.size(); ++i) {
    samples.add_class();
    streams.emplace_back(seed, i + 1);
  }
  double whole = 0.0, estimate = 0.0;
  for (std::uint64_t turn = 0; turn < kTurns; ++turn) {
    for (std::size_t i = 0; i < spreads.size(); ++i) {
      // Skewed, as recorded kernels are: an exponential part above a constant one.
      const double mean = 1e-6 * static_cast<double>(i + 1);
      const Seconds duration{mean *
                             (1.0 - spreads[i] - spreads[i] * std::log(1.0 - streams[i].uniform(2 * turn)))};
      whole += duration.value;
      const bool is_known = samples.is_known(i);
      const Seconds taken = is_known ? samples.draw(i, streams[i].bits(2 * turn + 1)) : duration;
      estimate += taken.value;
      if (is_known) {
        samples.add_replayed(i, taken);
      } else {
        samples.add_simulated(i, taken);
      }
    }
  }
  return {std::abs(estimate / whole - 1.0), samples.simulated()};
}

TEST_CASE("the sum of replayed durations is within the error asked for in 95 % of 200 seeds") {
  struct Case {
    std::vector<double> spreads;
    double least, most;  ///< share that is simulated
  };
  // 400 kernels that vary by 0.3 are too few to replay any: 3 (2 x 0.3 / 0.0425)^2 = 600.
  for (const Case& sampled :
       {Case{{0.02}, 0.0, 0.1}, Case{{0.3}, 0.9, 1.0}, Case{{0.02, 0.1, 0.5, 0.05, 0.1, 0.02}, 0.0, 0.5}}) {
    int within = 0;
    std::size_t simulated = 0;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
      const Outcome outcome = run(seed, sampled.spreads);
      if (outcome.error <= kError) ++within;
      simulated += outcome.simulated;
    }
    const double share =
        static_cast<double>(simulated) / (200.0 * 400.0 * static_cast<double>(sampled.spreads.size()));
    CHECK(within >= 190);
    CHECK(share >= sampled.least);
    CHECK(share <= sampled.most);
  }
}

}  // namespace

}  // namespace c3::sampling_running_test
