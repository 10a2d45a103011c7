#include "studies/selection/solver_baselines.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "gpu/kernels/convolution/solver.hpp"
#include "gpu/kernels/describe.hpp"
#include "studies/selection/fifths.hpp"

namespace c3 { inline namespace studies {
namespace {

using Counts = std::map<int, double>;

/// Problems whose kernels can be compared.
std::string group_of(const SolverProblem& problem) {
  return std::string(name_of(problem.shape.pass)) + " " + std::string(name_of(problem.shape.dtype));
}

using CountsByGroup = std::map<std::string, Counts>;

CountsByGroup wins(const SolverTable& table, const Rows& fitted, bool by_kind) {
  CountsByGroup counts;
  for (const std::size_t row : fitted) {
    const SolverProblem& problem = table.problems[row];
    counts[group_of(problem) + (by_kind ? problem.kind : "")][problem.winner()] += 1.0;
  }
  return counts;
}

double count_of(const Counts& counts, int token) {
  const auto found = counts.find(token);
  return found == counts.end() ? 0.0 : found->second;
}

/// The listed kernel with most of \p counts, then of \p otherwise.
std::size_t most(const SolverProblem& problem, const Counts& counts, const Counts& otherwise) {
  std::size_t best = 0;
  const auto votes = [&](std::size_t place) {
    return std::pair(count_of(counts, problem.tokens[place]), count_of(otherwise, problem.tokens[place]));
  };
  for (std::size_t place = 1; place < problem.tokens.size(); ++place)
    if (votes(place) > votes(best)) best = place;
  return best;
}

constexpr std::size_t kSizes = 16;

std::array<double, kSizes> logarithms(const ConvolutionShape& shape) {
  const Extent2 out = output_extent(shape);
  std::array<double, kSizes> sizes = {};
  std::ranges::transform(
      std::array<std::int64_t, kSizes>{shape.batch, shape.channels, shape.filters, shape.groups, shape.image.h,
                                       shape.image.w, out.h, out.w, shape.filter.h, shape.filter.w,
                                       1 + shape.pad.h, 1 + shape.pad.w, shape.stride.h, shape.stride.w,
                                       shape.dilation.h, shape.dilation.w},
      sizes.begin(), [](std::int64_t size) { return std::log2(static_cast<double>(size)); });
  return sizes;
}

/// The place of least \p time_of(problem, place), ties by wins.
template <class TimeOf>
void pick_least(const SolverTable& table, const Rows& fitted, const Rows& held_out, Picks& picks,
                TimeOf time_of) {
  const CountsByGroup counts = wins(table, fitted, false);
  for (const std::size_t row : held_out) {
    const SolverProblem& problem = table.problems[row];
    std::map<ConvolutionSolver, double> times;
    for (const ConvolutionSolver solver : problem.solvers)
      if (!times.contains(solver)) times[solver] = time_of(problem, solver);
    Counts last;  // that take longer than the least
    const double least =
        std::ranges::min_element(times, {}, [](const auto& entry) { return entry.second; })->second;
    for (std::size_t place = 0; place < problem.tokens.size(); ++place)
      last[problem.tokens[place]] = times[problem.solvers[place]] > least ? -1.0 : 0.0;
    const auto group = counts.find(group_of(problem));
    picks[row] = most(problem, last, group == counts.end() ? Counts{} : group->second);
  }
}

constexpr double kCannot = std::numeric_limits<double>::infinity();

}  // namespace

void pick_majority(const SolverTable& table, const Rows& fitted, const Rows& held_out, Picks& picks) {
  CountsByGroup counts = wins(table, fitted, false);
  for (const std::size_t row : held_out)
    picks[row] = most(table.problems[row], counts[group_of(table.problems[row])], {});
}

void pick_majority_of_kind(const SolverTable& table, const Rows& fitted, const Rows& held_out, Picks& picks) {
  CountsByGroup of_kind = wins(table, fitted, true);
  CountsByGroup counts = wins(table, fitted, false);
  for (const std::size_t row : held_out) {
    const SolverProblem& problem = table.problems[row];
    const std::string group = group_of(problem);
    picks[row] = most(problem, of_kind[group + problem.kind], counts[group]);
  }
}

void pick_by_neighbours(const SolverTable& table, const Rows& fitted, const Rows& held_out, Picks& picks) {
  std::map<std::string, Rows> groups;
  for (const std::size_t row : fitted)
    groups[group_of(table.problems[row])].push_back(row);
  std::vector<std::array<double, kSizes>> sizes;
  for (const SolverProblem& problem : table.problems)
    sizes.push_back(logarithms(problem.shape));
  for (const std::size_t row : held_out) {
    const auto distance = [&](std::size_t other) {
      double sum = 0.0;
      for (std::size_t i = 0; i < kSizes; ++i)
        sum += std::abs(sizes[row][i] - sizes[other][i]);
      return sum;
    };
    const Counts votes = votes_of_nearest(groups[group_of(table.problems[row])], distance,
                                          [&](std::size_t other) { return table.problems[other].winner(); });
    picks[row] = most(table.problems[row], votes, {});
  }
}

void pick_by_roofline(const SolverTable& table, const Rows& fitted, const Rows& held_out, Picks& picks) {
  pick_least(table, fitted, held_out, picks, [&](const SolverProblem& problem, ConvolutionSolver solver) {
    ConvolutionShape shape = problem.shape;
    shape.solver = solver;
    if (!can_run(solver, shape)) return kCannot;
    return roofline(plan_convolution(shape, table.gpu).kernel, table.gpu).value;
  });
}

void pick_by_model(const SolverTable& table, const Rows& fitted, const Rows& held_out, Picks& picks) {
  pick_least(table, fitted, held_out, picks, [&](const SolverProblem& problem, ConvolutionSolver solver) {
    ConvolutionShape shape = problem.shape;
    shape.solver = solver;
    return can_run(solver, shape) ? time_of(shape, table.gpu).time.value : kCannot;
  });
}

}}  // namespace c3::studies
