#pragma once
/// The result of a study from its file: what `c3sim run` printed can be shown again.

#include <optional>
#include <string>

#include "results/result_reader.hpp"
#include "workloads/analysis/study.hpp"

namespace c3 { inline namespace results {

/// \throws IoError when the file lacks what every study has.
StudyResult read_study(const ResultReader& file);

/// How the time of \p strategy was found; absent where it was simulated whole. \throws IoError likewise
std::optional<Estimate> read_estimate(const ResultReader& file, const std::string& strategy);

}}  // namespace c3::results
