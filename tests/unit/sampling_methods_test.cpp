#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cmath>
#include <set>
#include <string>

#include "engine/random.hpp"
#include "tests/support/near.hpp"
#include "workloads/sampling/draw.hpp"
#include "workloads/sampling/methods/method.hpp"
#include "workloads/sampling/trials.hpp"

namespace c3::sampling_methods_test { namespace {

/// Half of the durations are \p shorter, half \p longer, in turns.
void add_two(Invocations& invocations, const char* name, std::size_t pairs, double shorter, double longer) {
  for (std::size_t i = 0; i < pairs; ++i) {
    invocations.add(name, Seconds{shorter});
    invocations.add(name, Seconds{longer});
  }
}

/// Durations between 0.5 and 1.5 s.
Invocations wide(std::size_t count) {
  const RandomStream random(7, "wide");
  Invocations invocations;
  for (std::size_t i = 0; i < count; ++i)
    invocations.add(i % 3 == 0 ? "a" : "b", Seconds{0.5 + random.uniform(i)});
  return invocations;
}

TEST_CASE("allegro keeps a kernel of little spread, and draws as often as the central limit theorem asks") {
  // 0.9 and 1.1: deviation 0.1 of 1; (1.96 x 0.1 / 0.05)^2 = 15.4 draws, at least 30.
  Invocations invocations;
  add_two(invocations, "even", 500, 0.9, 1.1);
  const SamplePlan plan = sampling_method("allegro").plan(invocations, {.error = 0.05});
  REQUIRE(plan.clusters.size() == 1);
  CHECK(plan.clusters.front().samples == 30);
  // With an error of 3 % it takes (1.96 x 0.1 / 0.03)^2 x 1000 / 999 = 42.73 draws. 43 would fill 0.996 of the
  // bound, of which 0.85 are to be filled: 43 (0.9964 / 0.85)^2 = 59.1.
  CHECK(sampling_method("allegro").plan(invocations, {.error = 0.03}).clusters.front().samples == 60);
}

TEST_CASE("allegro divides a kernel that would take 50 draws until its parts do not") {
  // 1 and 3: deviation 1 of 2, 384 draws; each half has no spread.
  Invocations invocations;
  add_two(invocations, "bimodal", 500, 1.0, 3.0);
  const SamplePlan plan = sampling_method("allegro").plan(invocations, {.error = 0.05});
  REQUIRE(plan.clusters.size() == 2);
  CHECK(plan.clusters[0].statistics.mean.value == 1.0);
  CHECK(plan.clusters[1].statistics.mean.value == 3.0);
  CHECK(plan.expected_error() == 0.0);
  const DrawnSample sample = draw(plan, 0);
  CHECK(sample.error(plan.total()) < 1e-12);
}

TEST_CASE("stem costs no more than the joint closed form of two clusters, and meets the bound") {
  // Uniform around 1 and around 9, so that the only division that pays is the first. Children: N 500 each, mu 1
  // and 9, sigma s. n_i = S N s / sqrt(mu_i) / (0.02 x 5000 / 1.96)^2, S = 500 s (1 + 3).
  Invocations invocations;
  for (std::size_t i = 0; i < 500; ++i) {
    const double around = (static_cast<double>(i) + 0.5) / 500.0 - 0.5;
    invocations.add("k", Seconds{1.0 + around});
    invocations.add("k", Seconds{9.0 + around});
  }
  const SamplePlan plan = sampling_method("stem").plan(invocations, {.error = 0.02});
  // s^2 = 1 / 12: n_1 = 2000 x 500 / 12 / 51.02^2 = 32.01, n_2 = 10.67. Each then divides again where cheaper.
  CHECK(plan.expected_error().value() <= 0.02);
  CHECK(plan.expected_cost().value <= 33.0 * 1.0 + 11.0 * 9.0);
  CHECK(plan.clusters.size() >= 2);
}

TEST_CASE("stem plans the draws of two clusters jointly, by the closed form") {
  // The same as above, with an error of 10 %: n_1 = 2000 s^2 x 500 / (0.1 x 5000 / 1.96)^2 = 1.28, n_2 a
  // third of it. Neither divides again: halves of the first would cost 5 x 0.75 + 4 x 1.25, halves of the
  // second 8.75 + 9.25.
  Invocations invocations;
  for (std::size_t i = 0; i < 500; ++i) {
    const double around = (static_cast<double>(i) + 0.5) / 500.0 - 0.5;
    invocations.add("k", Seconds{1.0 + around});
    invocations.add("k", Seconds{9.0 + around});
  }
  const SamplePlan plan = sampling_method("stem").plan(invocations, {.error = 0.1});
  REQUIRE(plan.clusters.size() == 2);
  CHECK(plan.clusters[0].samples == 2);
  CHECK(plan.clusters[1].samples == 1);
}

TEST_CASE("stem draws once where nothing varies, and takes a single call whole") {
  Invocations invocations;
  for (int i = 0; i < 100; ++i)
    invocations.add("same", Seconds{2.0});
  invocations.add("once", Seconds{7.0});
  const SamplePlan plan = sampling_method("stem").plan(invocations, {});
  REQUIRE(plan.clusters.size() == 2);
  const DrawnSample sample = draw(plan, 3);
  CHECK(sample.chosen.size() == 2);
  CHECK(sample.estimate.value == near(207.0));
  CHECK(sample.cost.value == near(9.0));
  CHECK(sample.speedup(plan.total()) == near(23.0));
}

TEST_CASE(
    "contract: weights of every method stand for all invocations, each chosen once, the same for a seed") {
  const Invocations invocations = wide(2000);
  for (const SamplingMethod& method : sampling_methods()) {
    CAPTURE(method.name);
    const SamplePlan plan = method.plan(invocations, {.error = 0.05});
    CHECK(plan.invocations() == invocations.size());
    CHECK(plan.total().value == near(invocations.total().value));
    const DrawnSample sample = draw(plan, 11), again = draw(plan, 11);
    double weights = 0.0;
    std::set<std::uint32_t> chosen;
    for (const ChosenInvocation& one : sample.chosen) {
      weights += one.weight;
      chosen.insert(one.invocation);
      CHECK(invocations.duration(one.invocation) == one.duration);
      const std::string& kernel = plan.clusters[one.cluster].kernel;
      CHECK((kernel.empty() || kernel == invocations.name(one.invocation)));
    }
    CHECK(weights == near(2000.0));
    CHECK(chosen.size() == sample.chosen.size());
    if (plan.draws != DrawRule::with_replacement) CHECK(chosen.size() == plan.samples());
    CHECK(again.estimate == sample.estimate);
  }
}

TEST_CASE("property: 95 % of seeds are within the bound, also of one kernel whose durations have a long tail") {
  double within = 0.0, trials = 0.0;
  CHECK(rc::check([&](std::uint8_t kernels, std::uint16_t salt) {
    const RandomStream random(salt, "durations");
    Invocations invocations;
    for (std::size_t i = 0; i < 3000; ++i) {
      const std::size_t kernel = i % (1U + kernels % 7U);
      const double tail = random.uniform(2 * i);  // a power law without a variance: few are long
      invocations.add("k" + std::to_string(kernel), Seconds{static_cast<double>(kernel + 1) / std::sqrt(tail)});
    }
    for (const char* method : {"allegro", "stem"}) {
      const SamplePlan plan = sampling_method(method).plan(invocations, {.error = 0.1});
      RC_ASSERT(plan.expected_error().value() <= kFilledBound * 0.1 + 1e-12);
      const double share = try_seeds(plan, 40).within_bound;
      RC_ASSERT(share >= 0.85);  // 40 seeds are few
      within += share;
      trials += 1.0;
    }
  }));
  CHECK(within / trials >= 0.95);
}

TEST_CASE("random draws as many as asked, or as many as the bound takes") {
  const Invocations invocations = wide(4000);
  CHECK(sampling_method("random").plan(invocations, {.samples = 17}).samples() == 17);
  const SamplePlan plan = sampling_method("random").plan(invocations, {.error = 0.05});
  CHECK(plan.bound.value() <= 0.05);
  CHECK(plan.bound.value() > 0.048);  // draws are without replacement
  CHECK(plan.expected_error().value() == near(kFilledBound * plan.bound.value()));
}

TEST_CASE("first takes the program's first invocations, sieve and pka the first of each cluster") {
  Invocations invocations;
  add_two(invocations, "k", 50, 1.0, 4.0);
  const DrawnSample first = draw(sampling_method("first").plan(invocations, {.samples = 3}), 0);
  REQUIRE(first.chosen.size() == 3);
  CHECK(first.estimate.value == near(100.0 / 3.0 * 6.0));  // 1 + 4 + 1 stand for 100
  for (const char* method : {"sieve", "pka"}) {
    CAPTURE(method);
    const SamplePlan plan = sampling_method(method).plan(invocations, {});
    const DrawnSample sample = draw(plan, 5);
    CHECK_FALSE(plan.bound.has_value());
    REQUIRE(sample.chosen.size() == 2);
    CHECK(sample.chosen[0].invocation == 0);
    CHECK(sample.chosen[1].invocation == 1);
    CHECK(sample.error(plan.total()) < 1e-12);
  }
}

}}  // namespace c3::sampling_methods_test
