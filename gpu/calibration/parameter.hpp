#pragma once
/// Parameters of a model of times, and the model.

#include <functional>
#include <span>
#include <string>

#include "engine/units.hpp"

namespace c3 { inline namespace gpu {

/// What is searched for. Values are in whatever unit the caller's function takes.
struct Parameter {
  std::string name;    ///< for errors
  double low = 0.0;    ///< > 0
  double high = 0.0;   ///< >= low; equal: the parameter is held there
  double start = 0.0;  ///< low .. high; where the first descent begins, and what stays if no row depends on it
};

/// Writes the time of every row. `parameters`: shape [parameters], each within its bounds; `predicted`: shape
/// [rows]. Called thousands of times, always from one thread, with spans that robust_fit owns. Must give the
/// same times for the same parameters. May have kinks, and jumps (an argmin inside): the slope on a jump's far
/// side is not taken for the model's, only steps that lower the cost are taken, and the best descent is led
/// over small jumps by a search along single parameters.
using PredictTimes = std::function<void(std::span<const double> parameters, std::span<Seconds> predicted)>;

}}  // namespace c3::gpu
