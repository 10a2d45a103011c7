// Levenberg-Marquardt on a soft-L1 loss: known parameters come back, bounds hold, starts escape.

#include "gpu/calibration/robust_fit.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <span>
#include <stdexcept>
#include <vector>

#include "engine/random.hpp"
#include "gpu/calibration/damped_step.hpp"
#include "gpu/calibration/row_groups.hpp"
#include "gpu/calibration/soft_l1_problem.hpp"
#include "tests/support/near.hpp"

namespace c3::calibration_robust_fit_test {

namespace {

/// A roofline with a rounded corner: t = floor + ((a x)^p + (b y)^p)^(1/p), over 400 shapes from launch
/// bound to large.
struct Roofline {
  std::vector<double> x, y;

  Roofline() {
    const RandomStream random(7, "shapes");
    for (std::uint64_t row = 0; row < 400; ++row) {
      x.push_back(std::pow(10.0, 8.0 + 5.0 * random.uniform(2 * row)));      // flop
      y.push_back(std::pow(10.0, 5.0 + 5.0 * random.uniform(2 * row + 1)));  // B
    }
  }

  void predict(std::span<const double> p, std::span<Seconds> times) const {
    for (std::size_t i = 0; i < times.size(); ++i) {
      times[i].value = p[0] + std::pow(std::pow(p[1] * x[i], p[3]) + std::pow(p[2] * y[i], p[3]), 1.0 / p[3]);
    }
  }

  PredictTimes function() const {
    return [this](std::span<const double> parameters, std::span<Seconds> times) { predict(parameters, times); };
  }

  std::vector<Seconds> times(const std::vector<double>& parameters) const {
    std::vector<Seconds> result(x.size());
    predict(parameters, result);
    return result;
  }
};

const std::vector<double> kTruth = {4e-6, 1.0 / 600e12, 1.0 / 3.5e12, 3.0};

/// A factor of 20 wide, the truth not in the middle.
std::vector<Parameter> roofline_parameters() {
  return {{"floor", 1e-6, 20e-6, 10e-6},
          {"a", 1.0 / 2000e12, 1.0 / 100e12, 1.0 / 200e12},
          {"b", 1.0 / 5e12, 1.0 / 0.25e12, 1.0 / 1e12},
          {"p", 1.0, 20.0, 1.5}};
}

/// 3 % noise, and every tenth row two to four times as slow as it should be.
std::vector<Seconds> disturbed(std::vector<Seconds> times) {
  const RandomStream noise(7, "noise");
  for (std::size_t row = 0; row < times.size(); ++row) {
    times[row].value *= std::exp(0.03 * noise.normal(row));
    if (row % 10 == 3) times[row].value *= 2.0 + 2.0 * noise.uniform(1'000 + row);
  }
  return times;
}

double miss(const RobustFit& fit, std::size_t parameter) {
  return std::abs(std::log(fit.parameters[parameter] / kTruth[parameter]));
}

/// A kernel of two rows, both measured at 1 s, that is another kernel when its parameter is below e. That one
/// meets the rows only halfway (ln t = +-0.1, at 1/e), this one meets both at e^2.
void two_kernels(std::span<const double> parameters, std::span<Seconds> times) {
  const double log = std::log(parameters[0]);
  times[0].value = std::exp(log < 1.0 ? log + 1.1 : log - 2.0);
  times[1].value = std::exp(log < 1.0 ? log + 0.9 : log - 2.0);
}

const Parameter kOfTwoKernels = {"s", std::exp(-4.0), std::exp(4.0), std::exp(-2.0)};
const std::vector<Seconds> kOneSecondEach = {Seconds{1.0}, Seconds{1.0}};

/// t = a x, rows of x = 1, 2, 3 ...
void proportional(std::span<const double> parameters, std::span<Seconds> times) {
  for (std::size_t row = 0; row < times.size(); ++row) {
    times[row].value = parameters[0] * static_cast<double>(row + 1);
  }
}

}  // namespace

TEST_CASE("a fit without noise returns the parameters that made the times, from every start") {
  const Roofline roofline;
  const RobustFit fit = robust_fit(roofline_parameters(), roofline.times(kTruth), roofline.function());
  for (std::size_t i = 0; i < kTruth.size(); ++i)
    CHECK(fit.parameters[i] == near(kTruth[i], 1e-6));
  CHECK(fit.converged);
  REQUIRE(fit.costs.size() == 5);
  for (const double cost : fit.costs)
    CHECK(cost < 1e-12);
  CHECK(fit.evaluations < 1'000);  // 692 when written: 5 starts of 8 iterations of 8 differences and some steps
}

TEST_CASE("one row in ten being slow by two to four times moves a robust fit by little") {
  // 3 % over some 130 rows a regime is 0.3 %. An outlier pulls with f = 0.1 at most, so 10 % of them shift a
  // rate by about 0.1 x 0.1 / 0.9 = 1.1 %; least squares they would shift by 0.1 x ln 3 = 11 %.
  const Roofline roofline;
  const std::vector<Seconds> measured = disturbed(roofline.times(kTruth));
  const RobustFit robust = robust_fit(roofline_parameters(), measured, roofline.function());
  for (const std::size_t i : {0, 1, 2})
    CHECK(miss(robust, i) < 0.02);
  CHECK(miss(robust, 3) < 0.1);
  const FitOptions least_squares = {.soft_l1_scale = 1e3};
  const RobustFit squares = robust_fit(roofline_parameters(), measured, roofline.function(), least_squares);
  for (const std::size_t i : {0, 1, 2})
    CHECK(miss(squares, i) > 0.05);
}

TEST_CASE("rows that jump by 30 % where the model changes its mind do not stop a fit") {
  // Rows where a x > 1.5 b y take a kernel that is 30 % slower: as a and b move, rows jump one by one.
  const Roofline roofline;
  const PredictTimes jumping = [&roofline](std::span<const double> p, std::span<Seconds> times) {
    roofline.predict(p, times);
    for (std::size_t i = 0; i < times.size(); ++i) {
      if (p[1] * roofline.x[i] > 1.5 * p[2] * roofline.y[i]) times[i].value *= 1.3;
    }
  };
  std::vector<Seconds> measured(roofline.x.size());
  jumping(kTruth, measured);
  const RobustFit exact = robust_fit(roofline_parameters(), measured, jumping);
  for (std::size_t i = 0; i < kTruth.size(); ++i)
    CHECK(exact.parameters[i] == near(kTruth[i], 1e-6));
  const RobustFit fit = robust_fit(roofline_parameters(), disturbed(measured), jumping);
  for (const std::size_t i : {0, 1, 2})
    CHECK(miss(fit, i) < 0.02);
}

TEST_CASE("a row that jumps on one side of a point has the slope of the other") {
  // t = a^0.5, but a third more above a = 1 (first row), less below it (second). A row weighs 1/2.
  const std::vector<Parameter> a = {{"a", 0.1, 10.0, 1.0}};
  const std::vector<Seconds> measured = {Seconds{1.0}, Seconds{1.0}};
  const PredictTimes jumping = [](std::span<const double> p, std::span<Seconds> times) {
    times[0].value = std::sqrt(p[0]) * (p[0] > 1.0 ? 1.3 : 1.0);
    times[1].value = std::sqrt(p[0]) * (p[0] < 1.0 ? 0.7 : 1.0);
  };
  SoftL1Problem problem(a, measured, {}, jumping, 0.1);
  const std::vector<double> at = {0.0};
  CHECK(problem.try_point(at) == 0.0);
  problem.accept();
  std::vector<double> jacobian(2), residuals(2);
  problem.linearise(at, 1e-3, jacobian, residuals);
  CHECK(jacobian[0] == near(0.5 * std::sqrt(0.5), 1e-6));
  CHECK(jacobian[1] == near(0.5 * std::sqrt(0.5), 1e-6));
}

TEST_CASE("a parameter that acts in steps, so that no slope is ever seen, is found by searching along it") {
  // ln t in steps of 0.05, right around ln p = 1. The descent itself cannot leave its start; the search ends on
  // the right step or beside it (a move of 0.1 leads from one neighbour to the other, 0.03 may not lead off
  // it).
  const Parameter p = {"p", 0.1, 10.0, 1.0};
  const std::vector<Seconds> measured = {Seconds{1.0}};
  const PredictTimes steps = [](std::span<const double> values, std::span<Seconds> times) {
    times[0].value = std::exp(std::round(20.0 * (std::log(values[0]) - 1.0)) / 20.0);
  };
  const RobustFit fit = robust_fit({&p, 1}, measured, steps, {.starts = 1});
  CHECK(fit.costs[0] > 0.05);
  CHECK(std::abs(std::log(fit.parameters[0]) - 1.0) <= 0.075);
}

TEST_CASE("a parameter whose best value is out of bounds stays at the bound, and the fit says which") {
  const Roofline roofline;
  std::vector<Parameter> parameters = roofline_parameters();
  parameters[1].high = parameters[1].start = 0.8 * kTruth[1];  // a
  parameters[0].low = 1.5 * kTruth[0];                         // the floor
  const PredictTimes checked = [&](std::span<const double> p, std::span<Seconds> times) {
    for (std::size_t i = 0; i < p.size(); ++i) {
      REQUIRE(p[i] >= parameters[i].low);
      REQUIRE(p[i] <= parameters[i].high);
    }
    roofline.predict(p, times);
  };
  const RobustFit fit = robust_fit(parameters, roofline.times(kTruth), checked);
  CHECK(fit.parameters[0] == parameters[0].low);
  CHECK(fit.parameters[1] == parameters[1].high);
  CHECK(fit.bounds == std::vector<Bound>{Bound::low, Bound::high, Bound::none, Bound::none});
}

TEST_CASE("the logarithm of a bound is that bound to the last bit") {
  for (int i = 1; i < 100; ++i) {
    const std::vector<Parameter> p = {{"p", 0.1 * i, 0.7 * i, 0.2 * i}};
    const std::vector<Seconds> measured = {Seconds{1.0}};
    const PredictTimes never;
    const SoftL1Problem problem(p, measured, {}, never, 0.1);
    CHECK(problem.value(0, problem.low()[0]) == p[0].low);
    CHECK(problem.value(0, problem.high()[0]) == p[0].high);
  }
}

TEST_CASE("a step that would leave the box ends on its side, and the other coordinate makes up for it") {
  // Minimise (x + y - 3)^2 + (y - 1)^2: x = 2, y = 1. With x <= 1: (y - 2)^2 + (y - 1)^2, y = 1.5. With y
  // <= 1.25 too, both are on their sides.
  DampedStep damped(2);
  std::vector<double> jacobian = {1.0, 0.0, 1.0, 1.0};
  std::vector<double> residuals = {-3.0, -1.0};
  damped.factorise(jacobian, residuals);
  const auto solve = [&damped](const std::vector<double>& high, double damping) {
    std::vector<double> step(2);
    damped.solve(damping, std::vector{-9.0, -9.0}, high, step);
    return step;
  };
  CHECK(solve({9.0, 9.0}, 1e-14)[0] == near(2.0, 1e-9));
  CHECK(solve({9.0, 9.0}, 1e-14)[1] == near(1.0, 1e-9));
  CHECK(solve({1.0, 9.0}, 1e-14)[0] == 1.0);
  CHECK(solve({1.0, 9.0}, 1e-14)[1] == near(1.5, 1e-9));
  CHECK(solve({1.0, 1.25}, 1e-14) == std::vector{1.0, 1.25});
  // Much damping: down the gradient, (3, 4), each coordinate by its column's norm squared, 1 and 2.
  CHECK(solve({9.0, 9.0}, 1e6)[0] == near(3e-6, 1e-5));
  CHECK(solve({9.0, 9.0}, 1e6)[1] == near(2e-6, 1e-5));
}

TEST_CASE("a parameter of equal bounds is held there") {
  const Roofline roofline;
  std::vector<Parameter> parameters = roofline_parameters();
  parameters[3] = {"p", 3.0, 3.0, 3.0};
  const RobustFit fit = robust_fit(parameters, roofline.times(kTruth), roofline.function());
  CHECK(fit.parameters[3] == 3.0);
  CHECK(fit.bounds[3] == Bound::none);
  CHECK(fit.parameters[1] == near(kTruth[1], 1e-6));
}

TEST_CASE("one start ends in a planted local minimum, several find the other") {
  // The right well is 3/8 of the range, so that one of eight other starts always lies in it.
  const RobustFit one = robust_fit({&kOfTwoKernels, 1}, kOneSecondEach, two_kernels, {.starts = 1});
  CHECK(one.parameters[0] == near(std::exp(-1.0), 1e-3));
  const RobustFit nine = robust_fit({&kOfTwoKernels, 1}, kOneSecondEach, two_kernels, {.starts = 9});
  CHECK(nine.parameters[0] == near(std::exp(2.0), 1e-6));
  CHECK(nine.best_start > 0);
  CHECK(nine.costs.front() == near(one.cost, 1e-5));
  CHECK(nine.cost <= nine.costs[nine.best_start]);
}

TEST_CASE("sensitivity is 1 in proportion, and a parameter without effect keeps its start") {
  const std::vector<Parameter> parameters = {{"a", 0.1, 10.0, 0.5}, {"idle", 1.0, 100.0, 42.0}};
  const std::vector<Seconds> measured = {Seconds{2.0}, Seconds{4.0}, Seconds{9.0}};
  const RobustFit fit = robust_fit(parameters, measured, proportional);
  CHECK(fit.sensitivities[0] == near(1.0, 1e-9));
  CHECK(fit.sensitivities[1] == 0.0);
  CHECK(fit.parameters[1] == near(42.0, 1e-12));
}

TEST_CASE("weights decide between rows that disagree, and only their ratios count") {
  // t = a: rows say 1 s, and 1.2 s three times. Weighed 3 to 1, the two camps are equally strong: the middle of
  // the logarithms.
  const Parameter a = {"a", 0.1, 10.0, 5.0};
  const std::vector<Seconds> measured = {Seconds{1.0}, Seconds{1.2}, Seconds{1.2}, Seconds{1.2}};
  const PredictTimes constant = [](std::span<const double> p, std::span<Seconds> times) {
    for (Seconds& time : times)
      time.value = p[0];
  };
  const std::vector<double> balanced = balanced_weights(std::vector<std::uint64_t>{1, 2, 2, 2});
  CHECK(balanced[0] == near(2.0));
  CHECK(balanced[1] == near(2.0 / 3.0));
  const RobustFit fit = robust_fit({&a, 1}, measured, constant, {}, balanced);
  CHECK(fit.parameters[0] == near(std::sqrt(1.2), 1e-4));
  const RobustFit tenfold = robust_fit({&a, 1}, measured, constant, {}, std::vector{30.0, 10.0, 10.0, 10.0});
  CHECK(tenfold.parameters[0] == near(fit.parameters[0], 1e-12));
  const RobustFit alone = robust_fit({&a, 1}, measured, constant, {}, std::vector{1.0, 0.0, 0.0, 0.0});
  CHECK(alone.parameters[0] == near(1.0, 1e-6));
}

TEST_CASE("the same seed gives the same fit to the last bit, another seed other starts") {
  const Roofline roofline;
  const std::vector<Seconds> measured = disturbed(roofline.times(kTruth));
  const RobustFit first = robust_fit(roofline_parameters(), measured, roofline.function());
  const RobustFit again = robust_fit(roofline_parameters(), measured, roofline.function());
  CHECK(first.parameters == again.parameters);
  CHECK(first.costs == again.costs);
  CHECK(first.evaluations == again.evaluations);
  const RobustFit other = robust_fit(roofline_parameters(), measured, roofline.function(), {.seed = 2});
  CHECK(other.costs[0] == first.costs[0]);
  CHECK(other.costs[1] != first.costs[1]);
  CHECK(other.cost == near(first.cost, 1e-5));
}

TEST_CASE("a fit that cannot be made says why") {
  const Parameter a = {"a", 0.1, 10.0, 1.0};
  const std::vector<Seconds> measured = {Seconds{1.0}, Seconds{2.0}};
  const auto fit = [&](const Parameter& parameter, const std::vector<Seconds>& times,
                       const PredictTimes& predict) {
    return robust_fit({&parameter, 1}, times, predict);
  };
  CHECK_THROWS_WITH_AS(fit({"a", 0.1, 10.0, 20.0}, measured, proportional),
                       "robust_fit: a starts at 20 within 0.1 .. 10: needs 0 < low <= start <= high",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(fit(a, {Seconds{1.0}, Seconds{0.0}}, proportional),
                       "robust_fit: row 1 was measured to take 0 s", std::invalid_argument);
  CHECK_THROWS_WITH_AS(fit(a, {}, proportional), "robust_fit: 1 parameters of 0 rows", std::invalid_argument);
  CHECK_THROWS_AS(robust_fit({&a, 1}, measured, proportional, {}, std::vector{1.0}), std::invalid_argument);
  CHECK_THROWS_AS(robust_fit({&a, 1}, measured, proportional, {}, std::vector{1.0, -1.0}),
                  std::invalid_argument);
  CHECK_THROWS_AS(robust_fit({&a, 1}, measured, proportional, {.starts = 0}), std::invalid_argument);
  const PredictTimes negative = [](std::span<const double>, std::span<Seconds> times) {
    for (Seconds& time : times)
      time.value = -1.0;
  };
  CHECK_THROWS_WITH_AS(fit(a, measured, negative), "robust_fit: row 0 is predicted to take -1 s at a = 1",
                       std::domain_error);
}

}  // namespace c3::calibration_robust_fit_test
