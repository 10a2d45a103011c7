#pragma once
/// A find-db of ROCm/MIOpen: the time of every solver for each convolution.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "engine/units.hpp"
#include "gpu/kernels/convolution/convolution_shape.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace studies {

/// A kernel of MIOpen's, by its own name, and what it took.
struct FoundKernel {
  std::string name;
  ConvolutionSolver solver;  ///< what it is here
  Seconds time;
};

/// One convolution, as it was measured.
struct FoundConvolution {
  ConvolutionShape shape;
  Seconds best;  ///< of all solvers, those without any tiling among them
  /// The least of each of our solvers' kernels; those without any tiling ("naive") are left out.
  std::map<ConvolutionSolver, Seconds> by_solver;
  std::map<ConvolutionSolver, Bytes> workspaces;  ///< of that kernel
  std::vector<FoundKernel> kernels = {};          ///< all that the table has, each name once
};

struct FindDb {
  std::vector<FoundConvolution> convolutions;  ///< in the order of the file
  std::vector<std::string> broken;             ///< rows that say nothing sensible, each with its place
};

/// Rows of one convolution stand together in the file. \throws ConfigError for a table without a column,
/// IoError
FindDb read_find_db(const std::filesystem::path& file);

/// \p gpu as a find-db has it: its times are those of kernels, added up, without what launches them
/// (ROCm/MIOpen, Handle::GetKernelTime, from events), in the milliseconds of a tuning run.
GpuSpec as_in_find_db(GpuSpec gpu);

/// Equal for all batches, types and passes of a layer.
std::uint64_t layer_of(const ConvolutionShape& shape);

}}  // namespace c3::studies
