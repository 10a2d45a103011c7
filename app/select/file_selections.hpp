#pragma once
/// Kernels that a library would take for the convolutions and products of an experiment.

#include <cstdint>
#include <string>
#include <vector>

#include "app/select/kernel_selection.hpp"

namespace c3 { inline namespace app {

/// A shape of an experiment.
struct UsedShape {
  std::string first;       ///< operation that has it first
  std::int64_t calls = 1;  ///< calls that one rank of each kind makes
};

struct FileSelections {
  struct Found {
    UsedShape use;
    Selection selection;
  };
  struct Unknown {
    UsedShape use;
    Operator op;
    std::string gpu;
    std::string why;  ///< no kernel of it was learned
  };
  std::string experiment;
  std::vector<Found> found;  ///< sorted by first use, GPU after GPU
  std::vector<Unknown> unknown;
};

/// Selects kernels for each distinct convolution and product of \p file, on the GPUs that \p options name;
/// without any, on the experiment's own. \throws ConfigError
FileSelections selections_in(const std::string& file, const KernelOptions& options, std::size_t top);

}}  // namespace c3::app
