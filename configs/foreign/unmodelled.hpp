#pragma once
/// What config.json describes and c3sim has no word for, with its share of the model.

#include <vector>

#include "configs/foreign/file_reading.hpp"
#include "configs/foreign/json_keys.hpp"
#include "workloads/models/model_dimensions.hpp"

namespace c3 { inline namespace configs {

/// A model as its file has it.
struct CountedModel {
  double parameters = 0.0;         ///< with what is not modelled
  double active_parameters = 0.0;  ///< parameters active for a token
  std::vector<UnmodelledPart> unmodelled;
};

/// \param model what was taken of the file
/// \param keys of the model
/// \param sequence tokens, for which shares of flops are counted
CountedModel counted_model(const ModelDimensions& model, JsonKeys& keys, std::int64_t sequence);

}}  // namespace c3::configs
