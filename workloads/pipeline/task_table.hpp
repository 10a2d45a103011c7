#pragma once
/// Schedules that somebody has written out.

#include <span>
#include <string>

#include "workloads/pipeline/schedule.hpp"

namespace c3 { inline namespace workloads {

/// \param table by stage its tasks in their order, such as "F0 F1 B0 W0 B1 W1"; of several chunks "F0.1" is of
/// chunk 1. Chunks are passed in a loop. \throws std::invalid_argument for what is not a task
PipelineSchedule schedule_from(std::span<const std::string> table, int chunks);

/// Whether gradients of weights are passes of their own in \p table.
bool has_weights_passes(std::span<const std::string> table);

}}  // namespace c3::workloads
