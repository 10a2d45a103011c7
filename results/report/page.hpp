#pragma once
/// The page that explains one or several result files: one HTML text that needs nothing else.

#include <span>
#include <string>

#include "results/report/report_run.hpp"

namespace c3 { inline namespace results {

/// \p title empty: the names of the experiments.
std::string report_page(std::span<const ReportRun> runs, const std::string& title);

}}  // namespace c3::results
