#include "studies/selection/solver_table.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>

#include "gpu/selection/problem_features.hpp"

namespace c3 { inline namespace studies {
namespace {

/// How much longer than the last listed kernel one that is not listed is taken to be, at least.
constexpr double kNotListed = 0.18;
constexpr std::size_t kProblemsOfJob = 500;

int token_of(std::vector<std::string>& names, const std::string& name) {
  const auto known = std::ranges::find(names, name);
  if (known != names.end()) return static_cast<int>(known - names.begin());
  names.push_back(name);
  if (static_cast<int>(names.size()) > kMostTokensOfChoice)
    throw std::length_error("a find-db has more kernels of a pass than a choice may have");
  return static_cast<int>(names.size()) - 1;
}

/// Kernels that problems of each kind were seen with.
std::map<std::string, std::set<int>> seen_kernels(const SolverTable& table, const Rows& rows,
                                                  ConvolutionPass pass) {
  std::map<std::string, std::set<int>> seen;
  for (const std::size_t row : rows) {
    const SolverProblem& problem = table.problems[row];
    if (problem.shape.pass == pass) seen[problem.kind].insert(problem.tokens.begin(), problem.tokens.end());
  }
  return seen;
}

KnownChoice choice_of(const SolverProblem& problem, const std::set<int>& of_kind) {
  KnownChoice choice{.features = problem.features, .tokens = problem.tokens, .losses = {}};
  for (const double time : problem.times)
    choice.losses.push_back(std::log(time / problem.least()));
  const double beyond = std::ranges::max(choice.losses) + kNotListed;
  for (const int token : of_kind) {
    if (std::ranges::find(problem.tokens, token) != problem.tokens.end()) continue;
    choice.tokens.push_back(token);
    choice.losses.push_back(beyond);
  }
  return choice;
}

}  // namespace

std::size_t SolverProblem::best() const {
  return static_cast<std::size_t>(std::ranges::min_element(times) - times.begin());
}

void read_solver_table(const FindDb& db, SolverTable& table, Jobs& jobs) {
  constexpr double kMilliseconds = 1e3;
  for (const FoundConvolution& found : db.convolutions) {
    SolverProblem problem{.shape = found.shape,
                          .layer = layer_of(found.shape),
                          .features = {},
                          .kind = kind_of(found.shape),
                          .tokens = {},
                          .times = {},
                          .solvers = {}};
    for (const FoundKernel& kernel : found.kernels) {
      problem.tokens.push_back(token_of(table.tokens[static_cast<std::size_t>(found.shape.pass)], kernel.name));
      problem.times.push_back(kernel.time.value * kMilliseconds);
      problem.solvers.push_back(kernel.solver);
    }
    table.problems.push_back(std::move(problem));
  }
  for (std::size_t begin = 0; begin < table.problems.size(); begin += kProblemsOfJob) {
    jobs.emplace_back([&table, begin] {
      const std::size_t end = std::min(begin + kProblemsOfJob, table.problems.size());
      for (std::size_t i = begin; i < end; ++i)
        table.problems[i].features = features_of(table.problems[i].shape, table.gpu);
    });
  }
}

KernelSelector solver_selector(const SolverTable& table, const Rows& rows, ConvolutionPass pass,
                               const TrainingOptions& options) {
  KernelSelector selector{
      .features = table.problems.front().features.size(),
      .steps = {{.what = "solver", .tokens = table.tokens[static_cast<std::size_t>(pass)], .trees = {}}},
      .valid = {}};
  const auto seen = seen_kernels(table, rows, pass);
  for (const auto& [kind, tokens] : seen) {
    std::vector<TokenSequence> sequences;
    for (const int token : tokens)
      sequences.push_back({token});
    selector.valid.emplace(kind, ValidSequences(std::move(sequences)));
  }
  std::vector<KnownChoice> choices;
  for (const std::size_t row : rows) {
    const SolverProblem& problem = table.problems[row];
    if (problem.shape.pass == pass) choices.push_back(choice_of(problem, seen.at(problem.kind)));
  }
  selector.steps.front().trees = train_choice(choices, options);
  return selector;
}

}}  // namespace c3::studies
