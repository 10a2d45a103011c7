#pragma once
/// The kernel that a library would take for a convolution or a product, by the weights that are shipped.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "app/kernel/kernel_request.hpp"
#include "app/select/modelled_kernel.hpp"

namespace c3 { inline namespace app {

/// A kernel of a library.
struct SelectedKernel {
  std::vector<std::string> tokens;  ///< names, one for each step
  double probability;
  std::optional<ModelledKernel> modelled;  ///< absent: the cost model has no solver like it
};

/// What a library would take for one shape on one GPU.
struct Selection {
  KernelCase asked;
  std::string learned_on;               ///< family of the GPU whose tables were learned
  std::vector<std::string> steps;       ///< "tile_m", ..
  std::vector<SelectedKernel> kernels;  ///< the most probable first
  std::optional<ModelledKernel> model;  ///< what the cost model would choose; absent: it can run none
};

/// The \p top kernels for \p asked. \throws InfeasibleError for a GPU, type, layout or geometry that was not
/// learned, UsageError for an operator that was not
Selection selection_of(const KernelCase& asked, std::size_t top);

}}  // namespace c3::app
