#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "engine/errors.hpp"
#include "gpu/kernels/convolution/plan_parts.hpp"

namespace c3 { inline namespace gpu {

extern const SolverEntry kImplicitGemm;
extern const SolverEntry kLibraryGemm;
extern const SolverEntry kDirect;
extern const SolverEntry kWinograd;
extern const SolverEntry kFft;

std::span<const SolverEntry* const> convolution_solvers() {
  static constexpr std::array kAll = {&kImplicitGemm, &kLibraryGemm, &kDirect, &kWinograd, &kFft};
  return kAll;
}

bool can_run(ConvolutionSolver solver, const ConvolutionShape& shape) {
  const auto solvers = convolution_solvers();
  const auto found = std::ranges::find(solvers, solver, &SolverEntry::solver);
  return found == solvers.end() || (*found)->can_run(shape);
}

ConvolutionPlan plan_convolution(const ConvolutionShape& shape, const PlanTarget& target) {
  FastestPlan fastest(target);
  if (!target.is_whole()) fastest.take(plan_convolution(shape, target.gpu));
  for (const SolverEntry* solver : convolution_solvers()) {
    const bool is_asked = shape.solver == solver->solver;
    if (!is_asked && shape.solver != ConvolutionSolver::fastest) continue;
    if (!solver->can_run(shape)) {
      if (!is_asked) continue;
      throw InfeasibleError(fmt::format("solver '{}' cannot run this convolution: it requires {}",
                                        name_of(solver->solver), solver->requires_));
    }
    ConvolutionPlan plan = solver->plan(shape, target);
    plan.solver = solver->solver;
    fastest.take(std::move(plan));
  }
  return std::move(fastest).best();
}

}}  // namespace c3::gpu
