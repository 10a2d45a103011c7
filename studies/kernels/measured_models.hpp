#pragma once
/// NeuSight's table of whole models, measured and predicted (neusight_e2e.csv).

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/units.hpp"

namespace c3 { inline namespace studies {

/// Times of one step, of a training step the parts apart.
struct StepTimes {
  Seconds forward;
  Seconds backward;  ///< of training
};

struct MeasuredModel {
  std::string gpu;    ///< slug of the preset
  std::string model;  ///< slug of the preset
  bool training = false;
  bool fused = false;  ///< by PyTorch's compiler
  std::int64_t sequences = 0;
  std::int64_t length = 0;
  StepTimes measured = {};
  std::optional<StepTimes> neusight = {};  ///< its prediction
  std::optional<StepTimes> roofline = {};  ///< NeuSight's roofline of the same operators
};

/// Models in the order of the file. \throws ConfigError for another header, a model, device or mode that is not
/// known and cells that are no numbers; IoError
std::vector<MeasuredModel> read_measured_models(const std::filesystem::path& file);

}}  // namespace c3::studies
