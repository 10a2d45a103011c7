#pragma once
/// One way to compute a convolution. One entry each, listed in solver_table.cpp.

#include <span>
#include <string>
#include <string_view>

#include "gpu/kernel.hpp"
#include "gpu/kernels/convolution/convolution_shape.hpp"
#include "gpu/spec.hpp"

namespace c3::inline gpu {

/// What a solver runs: its kernels one after another, described as one.
struct ConvolutionPlan {
  KernelDescription kernel;  ///< `overhead` has the kernels before and after, each with a launch
  int kernels = 1;           ///< launched
  Bytes workspace;           ///< beside the three tensors
};

struct SolverEntry {
  ConvolutionSolver solver;
  std::string_view requires_;  ///< what `can_run` asks for, for errors
  bool (*can_run)(const ConvolutionShape& shape);
  ConvolutionPlan (*plan)(const ConvolutionShape& shape, const GpuSpec& gpu);  ///< of a shape that it can run
};

std::span<const SolverEntry* const> convolution_solvers();

/// Whether \p solver can compute \p shape; `fastest` always can.
bool can_run(ConvolutionSolver solver, const ConvolutionShape& shape);

/// The plan of the shape's solver; of the fastest that can run it where it names none. \throws InfeasibleError
ConvolutionPlan plan_convolution(const ConvolutionShape& shape, const GpuSpec& gpu);

}  // namespace c3::gpu
