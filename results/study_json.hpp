#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "workloads/analysis/impossible_strategies.hpp"
#include "workloads/analysis/out_of_memory.hpp"
#include "workloads/analysis/study.hpp"

namespace c3 { inline namespace results {

/// \returns what `c3sim run --json` prints. Absent numbers are null. \param missing strategies that a stop left
/// out \param impossible those that cannot run
std::string study_json(const StudyResult& study, const std::filesystem::path& output,
                       const std::vector<std::string>& missing = {},
                       const std::vector<ImpossibleStrategy>& impossible = {});

/// \returns what it prints of a training step that does not fit.
std::string out_of_memory_json(const OutOfMemory& verdict);

}}  // namespace c3::results
