#pragma once
/// Which layers each stage of a pipeline has.

#include <cstdint>
#include <vector>

#include "workloads/training/pipeline_setup.hpp"

namespace c3 { inline namespace workloads {

/// What one chunk of a stage runs, one after another.
struct StageChunk {
  bool embedding = false;
  std::int64_t first = 0;  ///< layer, counted over the model
  std::int64_t layers = 0;
  bool head = false;  ///< with the loss

  bool operator==(const StageChunk&) const = default;
};

/// Chunks of each stage. Layers are divided evenly among virtual stages, but for stages whose number is given;
/// the embedding and the head may count as a layer each; a layout writes all out. With DualPipe each stage has
/// those of the stage opposite, too.
/// \throws std::invalid_argument with the rule that the setup breaks
std::vector<std::vector<StageChunk>> stage_layers(const PipelineSetup& pipeline, std::int64_t layers);

}}  // namespace c3::workloads
