#pragma once
/// What stands in front of each feed-forward block of a model of Hugging Face: attention to all tokens before
/// one, to a window, within a chunk.

#include "configs/foreign/model_code.hpp"
#include "configs/foreign/model_keys.hpp"
#include "workloads/models/model_dimensions.hpp"

namespace c3 { inline namespace configs {

/// Fills the blocks and the pattern of \p model, whose layers, heads and experts have been read.
/// \throws ConfigError where keys contradict each other
void read_hugging_face_blocks(ModelKeys& keys, const ModelCode& code, ModelDimensions& model);

}}  // namespace c3::configs
