#pragma once
/// What a stream of one rank ran, as the breakdown of a step takes it.

#include <string>
#include <vector>

#include "workloads/execute/step_breakdown.hpp"
#include "workloads/execute/stream_program.hpp"
#include "workloads/program/program.hpp"

namespace c3 { inline namespace workloads {

/// Adds the operations of \p stream that ran to \p timed; those that communicate are of \p kind.
void add_timed(std::vector<TimedOperation>& timed, const StreamProgram& stream, const Program& program,
               const std::string& kind);

}}  // namespace c3::workloads
