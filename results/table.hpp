#pragma once
/// The table that `c3sim run` prints.

#include <string>

#include "workloads/execute/study.hpp"

namespace c3 {

/// The conditions, then times and ratios of every strategy, then, when any strategy has one, its loss split,
/// and last which strategy to take. At most 110 characters wide for strategy names up to 23 characters. Absent
/// numbers are "-".
std::string format_study(const StudyResult& study);

}  // namespace c3
