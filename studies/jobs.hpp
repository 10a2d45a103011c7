#pragma once

#include <functional>
#include <vector>

#include "studies/study.hpp"

namespace c3 { inline namespace studies {

/// Work that may be done in any order and at the same time.
using Jobs = std::vector<std::function<void()>>;

/// Does all of \p jobs on this machine's cores. What a job throws is thrown here, after those that were begun
/// have ended. \throws InterruptedError
void run_jobs(const Jobs& jobs, const StudyProgress& progress);

}}  // namespace c3::studies
