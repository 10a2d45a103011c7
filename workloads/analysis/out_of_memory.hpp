#pragma once
/// Whether a training step has room in its GPUs' memory, which is known before it is simulated.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "workloads/analysis/study.hpp"

namespace c3 { inline namespace workloads {

/// A step that does not fit: a result, not an error.
struct OutOfMemory {
  std::string experiment;
  StepFacts step;                         ///< of the first draw that does not fit
  std::vector<std::uint64_t> draws = {};  ///< all that do not; empty when nothing is drawn
};

/// nullopt when every draw fits, or the experiment is no training step.
std::optional<OutOfMemory> out_of_memory(const ExperimentFactory& make);

}}  // namespace c3::workloads
