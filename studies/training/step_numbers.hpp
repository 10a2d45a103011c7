#pragma once
/// How the parts of the study of training steps tell numbers.

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/percent.hpp"
#include "engine/units.hpp"

namespace c3 { inline namespace studies {

inline constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;

/// Columns of the study's rows.
inline constexpr std::string_view kStepCsvHeader =
    "set,row,measured_ms,here_ms,p5_ms,p95_ms,slow_host_ms,kernels_ms,exposed_ms\n";

/// One line under kStepCsvHeader. \param times those after the measured one
inline std::string step_csv(std::string_view set, std::string_view row, Seconds measured,
                            const std::array<std::optional<Seconds>, 6>& times) {
  std::string text = fmt::format("{},{},{:.3f}", set, row, measured / 1.0_ms);
  for (const std::optional<Seconds>& time : times)
    text += time ? fmt::format(",{:.3f}", *time / 1.0_ms) : ",";
  return text + '\n';
}

}}  // namespace c3::studies
