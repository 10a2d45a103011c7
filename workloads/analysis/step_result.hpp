#pragma once

#include "workloads/analysis/study.hpp"

namespace c3::inline workloads {

/// \pre \p experiment is a training step, of which \p run is one
StepResult step_result(const Experiment& experiment, const RunResult& run);

}  // namespace c3::workloads
