#pragma once
/// Schedules in which micro-batches go through the stages in both directions.

#include <vector>

#include "workloads/pipeline/pipeline_task.hpp"

namespace c3 { inline namespace workloads {

/// arXiv 2401.10241, section 6 (ZB-V): the tasks of \p stage, there and back.
std::vector<PipelineTask> zb_v(int stage, const PipelineShape& shape);

/// arXiv 2412.19437, figure 5: half of the micro-batches from either end, in the phases of
/// deepseek-ai/DualPipe @bb214e82, dualpipe.py. A forward and a backward pass that run as one there are in turn
/// here: nothing of the one hides what the other waits for. \pre broken_rule is nullopt
std::vector<PipelineTask> dualpipe(int stage, const PipelineShape& shape);

}}  // namespace c3::workloads
