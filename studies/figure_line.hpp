#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "studies/study.hpp"

namespace c3 { inline namespace studies {

/// The figure \p id with the number \p value, and with what stands beside it.
StudyLine figure_line(const PublishedFigures& published, std::string_view id, std::string label,
                      std::optional<double> value, std::vector<std::pair<std::string, double>> beside = {});

}}  // namespace c3::studies
