#pragma once
/// The [[stream]] tables of an experiment: operations by name, resolved to shapes and bytes.

#include <cstdint>
#include <optional>
#include <vector>

#include "configs/model_reader.hpp"
#include "configs/section.hpp"
#include "workloads/experiment.hpp"

namespace c3 {

/// What the operations of a model's layer work on.
struct LayerInput {
  ModelDimensions model;
  std::int64_t tokens = 0;  ///< per GPU: the m of every GEMM
  DType dtype = DType::bf16;
};

/// Reads `stream` of \p root. \param layer absent when the experiment has no model: then only shapes and sizes
/// written out can be run. \throws ConfigError for an empty or doubly named stream, an operation that is not
/// known, an event recorded twice or awaited and never recorded.
std::vector<StreamSpec> read_streams(Section& root, const std::optional<LayerInput>& layer);

}  // namespace c3
