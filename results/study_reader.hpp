#pragma once
/// The result of a study from its file: what `c3sim run` printed can be shown again.

#include "results/result_reader.hpp"
#include "workloads/analysis/study.hpp"

namespace c3::inline results {

/// \throws IoError when the file lacks what every study has.
StudyResult read_study(const ResultReader& file);

}  // namespace c3::results
