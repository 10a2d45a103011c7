#pragma once
/// Figures of several rows of cases.

#include <optional>
#include <string>
#include <vector>

#include "configs/presets/study_card.hpp"
#include "gpu/calibration/error_statistics.hpp"

namespace c3 { inline namespace studies {

/// \pre there are values; two, of deviation
double summary_of(SummaryKind kind, std::vector<double> values);

/// The interval from 5 % to 95 %, where values of one block are drawn together. Absent with one block.
std::optional<Interval> interval_of(SummaryKind kind, const std::vector<double>& values,
                                    const std::vector<std::string>& blocks);

}}  // namespace c3::studies
