#pragma once
/// One way to compute a convolution. One entry each, listed in solver_table.cpp.

#include <span>
#include <string_view>

#include "gpu/kernel.hpp"
#include "gpu/kernel_time.hpp"
#include "gpu/kernels/convolution/convolution_shape.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace gpu {

/// What a solver runs: its kernels one after another, described as one.
struct ConvolutionPlan {
  KernelDescription kernel;  ///< `overhead` has the kernels before and after, each with a launch
  int kernels = 1;           ///< launched
  Bytes workspace;           ///< beside the three tensors
  ConvolutionSolver solver = ConvolutionSolver::fastest;  ///< that has it; set by plan_convolution()
};

/// For what a plan is the fastest: a GPU, which is what libraries choose for, or a part of it.
struct PlanTarget {
  // NOLINTNEXTLINE(google-explicit-constructor): a GPU is a target
  PlanTarget(const GpuSpec& of, KernelSlice part = {}) : gpu(of), slice(part) {
    slice.launch = LaunchCost::device;
  }

  bool is_whole() const { return slice == KernelSlice{.launch = LaunchCost::device}; }
  int cus() const { return slice.cus > 0 ? slice.cus : gpu.compute.cus(); }

  const GpuSpec& gpu;  ///< must outlive it
  KernelSlice slice;
};

struct SolverEntry {
  ConvolutionSolver solver;
  std::string_view requires_;  ///< what `can_run` asks for, for errors
  bool (*can_run)(const ConvolutionShape& shape);
  /// Of a shape that it can run: of its kernels, cuts and tiles those that are fastest on the target.
  ConvolutionPlan (*plan)(const ConvolutionShape& shape, const PlanTarget& target);
};

std::span<const SolverEntry* const> convolution_solvers();

/// Whether \p solver can compute \p shape; `fastest` always can.
bool can_run(ConvolutionSolver solver, const ConvolutionShape& shape);

/// The plan of the shape's solver; of the fastest that can run it where it names none. Never slower on a part
/// of a GPU than the plan for all of it. \throws InfeasibleError
ConvolutionPlan plan_convolution(const ConvolutionShape& shape, const PlanTarget& target);

}}  // namespace c3::gpu
