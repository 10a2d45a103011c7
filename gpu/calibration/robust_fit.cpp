#include "gpu/calibration/robust_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "engine/random.hpp"
#include "gpu/calibration/damped_step.hpp"
#include "gpu/calibration/row_groups.hpp"
#include "gpu/calibration/soft_l1_problem.hpp"

namespace c3 { inline namespace gpu {
namespace {

constexpr double kFirstDamping = 1e-2;
constexpr double kLeastDamping = 1e-9;
constexpr double kMostDamping = 1e9;
constexpr double kDampingDown = 0.3;
constexpr double kDampingUp = 4.0;
constexpr std::array kSearchSteps = {0.1, 0.03, 0.01};  ///< of the logarithm
constexpr double kAtBound = 1e-3;                       ///< in the logarithm

void check(std::span<const Parameter> parameters, std::span<const Seconds> measured, const FitOptions& options,
           std::span<const double> weights) {
  const auto fail = [](const std::string& what) { throw std::invalid_argument("robust_fit: " + what); };
  std::size_t searched = 0;
  for (const Parameter& p : parameters) {
    if (!(p.low > 0.0 && p.low <= p.start && p.start <= p.high && std::isfinite(p.high))) {
      fail(fmt::format("{} starts at {} within {} .. {}: needs 0 < low <= start <= high", p.name, p.start,
                       p.low, p.high));
    }
    if (p.low < p.high) ++searched;
  }
  if (!weights.empty() && weights.size() != measured.size()) {
    fail(fmt::format("{} rows and {} weights", measured.size(), weights.size()));
  }
  std::size_t counted = 0;
  for (std::size_t row = 0; row < measured.size(); ++row) {
    const double weight = weights.empty() ? 1.0 : weights[row];
    if (!(measured[row].value > 0.0) || !std::isfinite(measured[row].value)) {
      fail(fmt::format("row {} was measured to take {} s", row, measured[row].value));
    }
    if (!(weight >= 0.0) || !std::isfinite(weight)) fail(fmt::format("row {} weighs {}", row, weight));
    if (weight > 0.0) ++counted;
  }
  if (counted == 0 || counted < searched) fail(fmt::format("{} parameters of {} rows", searched, counted));
  if (!(options.soft_l1_scale > 0.0) || options.starts < 1 || options.iterations < 1 ||
      !(options.difference_step > 0.0) || !(options.least_gain >= 0.0)) {
    fail("an option is out of range");
  }
}

/// Latin hypercube: of n starts, each n-th part of each parameter's range holds one.
std::vector<std::vector<double>> other_starts(const SoftL1Problem& problem, std::size_t count,
                                              std::uint64_t seed) {
  std::vector<std::vector<double>> starts(count, std::vector<double>(problem.parameters()));
  for (std::size_t i = 0; i < problem.parameters(); ++i) {
    const RandomStream parts(seed, fmt::format("starts {} parts", i));
    const RandomStream places(seed, fmt::format("starts {} places", i));
    const Rows order = random_order(count, parts);
    for (std::size_t start = 0; start < count; ++start) {
      const double share =
          (static_cast<double>(order[start]) + places.uniform(start)) / static_cast<double>(count);
      starts[start][i] = std::lerp(problem.low()[i], problem.high()[i], share);
    }
  }
  return starts;
}

/// Where one start leads.
struct Descent {
  std::vector<double> logs;
  double cost = 0.0;
  int iterations = 0;
  bool converged = false;
};

/// Levenberg-Marquardt with the buffers that its iterations share.
class LevenbergMarquardt {
 public:
  LevenbergMarquardt(SoftL1Problem& problem, const FitOptions& options)
      : problem_(problem),
        options_(options),
        damped_(problem.parameters()),
        jacobian_(problem.parameters() * problem.rows()),
        residuals_(problem.rows()),
        low_(problem.parameters()),
        high_(problem.parameters()),
        step_(problem.parameters()),
        trial_(problem.parameters()) {}

  Descent descend(std::vector<double> start) {
    Descent at{.logs = std::move(start)};
    at.cost = problem_.try_point(at.logs);
    problem_.accept();
    descend(at);
    return at;
  }

  /// Where a jump of the model has stopped a descent short of its minimum, moves along single parameters lead
  /// out of it, and the descent goes on from there.
  void polish(Descent& at) {
    at.cost = problem_.try_point(at.logs);
    problem_.accept();
    at.converged = false;
    while (at.iterations < options_.iterations && !at.converged) {
      const double before = at.cost;
      search(at);
      descend(at);
      at.converged = before - at.cost <= options_.least_gain * before;
    }
  }

  /// RobustFit::sensitivities at \p logs.
  std::vector<double> sensitivities(const std::vector<double>& logs) {
    problem_.try_point(logs);
    problem_.accept();
    problem_.linearise(logs, options_.difference_step, jacobian_, residuals_);
    std::vector<double> result(problem_.parameters());
    for (std::size_t i = 0; i < result.size(); ++i) {
      for (const double entry : std::span(jacobian_).subspan(i * problem_.rows(), problem_.rows())) {
        result[i] += entry * entry;
      }
      result[i] = std::sqrt(result[i] / problem_.weight());
    }
    return result;
  }

 private:
  void descend(Descent& at) {
    double damping = kFirstDamping;
    at.converged = false;
    while (at.iterations < options_.iterations && !at.converged) {
      ++at.iterations;
      problem_.linearise(at.logs, options_.difference_step, jacobian_, residuals_);
      damped_.factorise(jacobian_, residuals_);
      const double gain = improve(at, damping);
      at.converged = gain <= options_.least_gain * at.cost;
    }
  }

  /// Compass search: each parameter up or down in turn, by less and less.
  void search(Descent& at) {
    for (const double size : kSearchSteps) {
      for (std::size_t i = 0; i < trial_.size(); ++i) {
        for (const double move : {size, -size}) {
          trial_ = at.logs;
          trial_[i] = std::clamp(at.logs[i] + move, problem_.low()[i], problem_.high()[i]);
          if (trial_[i] == at.logs[i]) continue;
          const double cost = problem_.try_point(trial_);
          if (cost >= at.cost) continue;
          problem_.accept();
          at.logs = trial_;
          at.cost = cost;
          break;
        }
      }
    }
  }

  /// Damps until a step lowers the cost, and takes it. \returns by how much, 0 when none does.
  double improve(Descent& at, double& damping) {
    for (std::size_t i = 0; i < step_.size(); ++i) {
      low_[i] = problem_.low()[i] - at.logs[i];
      high_[i] = problem_.high()[i] - at.logs[i];
    }
    for (; damping <= kMostDamping; damping *= kDampingUp) {
      damped_.solve(damping, low_, high_, step_);
      for (std::size_t i = 0; i < step_.size(); ++i) {
        trial_[i] = std::clamp(at.logs[i] + step_[i], problem_.low()[i], problem_.high()[i]);
      }
      const double cost = problem_.try_point(trial_);
      if (cost >= at.cost) continue;
      problem_.accept();
      at.logs = trial_;
      damping = std::max(kLeastDamping, damping * kDampingDown);
      return std::exchange(at.cost, cost) - cost;
    }
    return 0.0;
  }

  SoftL1Problem& problem_;
  const FitOptions& options_;
  DampedStep damped_;
  std::vector<double> jacobian_, residuals_;
  std::vector<double> low_, high_, step_, trial_;
};

Bound bound_at(double log, double low, double high) {
  if (low == high) return Bound::none;
  if (log - low < kAtBound) return Bound::low;
  return high - log < kAtBound ? Bound::high : Bound::none;
}

std::vector<double> first_start(std::span<const Parameter> parameters) {
  std::vector<double> logs;
  for (const Parameter& parameter : parameters)
    logs.push_back(std::log(parameter.start));
  return logs;
}

}  // namespace

RobustFit robust_fit(std::span<const Parameter> parameters, std::span<const Seconds> measured,
                     const PredictTimes& predict, const FitOptions& options, std::span<const double> weights) {
  check(parameters, measured, options, weights);
  SoftL1Problem problem(parameters, measured, weights, predict, options.soft_l1_scale);
  LevenbergMarquardt levenberg_marquardt(problem, options);

  RobustFit fit;
  const std::vector<double> given = first_start(parameters);
  Descent best = levenberg_marquardt.descend(given);
  fit.costs.push_back(best.cost);
  for (std::vector<double>& start : other_starts(problem, options.starts - 1, options.seed)) {
    Descent descent = levenberg_marquardt.descend(std::move(start));
    fit.costs.push_back(descent.cost);
    if (descent.cost >= best.cost) continue;
    best = std::move(descent);
    fit.best_start = fit.costs.size() - 1;
  }

  levenberg_marquardt.polish(best);
  fit.cost = best.cost;
  fit.sensitivities = levenberg_marquardt.sensitivities(best.logs);
  std::vector<double> unmoved = best.logs;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (fit.sensitivities[i] == 0.0) unmoved[i] = given[i];
  }
  if (problem.try_point(unmoved) <= best.cost) best.logs = unmoved;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    fit.parameters.push_back(problem.value(i, best.logs[i]));
    fit.bounds.push_back(bound_at(best.logs[i], problem.low()[i], problem.high()[i]));
  }
  fit.iterations = best.iterations;
  fit.converged = best.converged;
  fit.evaluations = problem.evaluations();
  return fit;
}

}}  // namespace c3::gpu
