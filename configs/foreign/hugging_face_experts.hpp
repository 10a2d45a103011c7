#pragma once
/// The mixture of experts that Hugging Face's config.json describes.

#include <cstdint>
#include <optional>

#include "configs/foreign/model_code.hpp"
#include "configs/foreign/model_keys.hpp"
#include "workloads/models/model_dimensions.hpp"

namespace c3 { inline namespace configs {

/// Absent for a model without experts. \param layers of the model \throws ConfigError
std::optional<ExpertDimensions> read_hugging_face_experts(ModelKeys& keys, const ModelCode& code,
                                                          std::int64_t layers);

}}  // namespace c3::configs
