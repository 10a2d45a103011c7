#pragma once

#include <filesystem>
#include <string>

#include "workloads/execute/study.hpp"

namespace c3 {

/// \returns what `c3sim run --json` prints. Absent numbers are null.
std::string study_json(const StudyResult& study, const std::filesystem::path& output);

}  // namespace c3
