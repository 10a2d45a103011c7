#include "gpu/kernels/convolution/solver.hpp"
#include "gpu/kernels/describe.hpp"
#include "studies/convolutions/parts.hpp"

namespace c3 { inline namespace studies {

SolverTimes times_on(const GpuSpec& gpu, const std::vector<FoundConvolution>& convolutions,
                     const std::vector<std::size_t>& rows) {
  SolverTimes times(convolutions.size());
  for (const std::size_t row : rows) {
    ConvolutionShape shape = convolutions[row].shape;
    for (const SolverEntry* solver : convolution_solvers()) {
      if (!solver->can_run(shape)) continue;
      shape.solver = solver->solver;
      times[row][solver->solver] = time_of(shape, gpu).time;
    }
  }
  return times;
}

}}  // namespace c3::studies
