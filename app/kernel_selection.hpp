#pragma once
/// Which kernel a library would take for a convolution or a product, by the weights that are shipped.

#include <string>
#include <vector>

#include "app/kernel_request.hpp"

namespace c3::inline app {

/// What a library would take for one shape on one GPU.
struct Selection {
  KernelCase asked;
  std::string learned_on;                         ///< family of the GPU whose tables were learned
  std::vector<std::string> steps;                 ///< "tile_m", ..
  std::vector<std::vector<std::string>> kernels;  ///< names of tokens, the best kernel first
  std::vector<double> probabilities;
};

/// The \p top kernels for \p asked. \throws InfeasibleError for a GPU, type, layout or geometry that was not
/// learned, UsageError for an operator that was not
Selection selection_of(const KernelCase& asked, std::size_t top);

}  // namespace c3::app
