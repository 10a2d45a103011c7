#pragma once
/// Steps of an author that somebody changes.

#include <functional>

#include "workloads/experiment.hpp"

namespace c3 { inline namespace workloads {

using ProgramChange = std::function<void(Program&)>;

/// Applies \p change to the program of \p experiment, and to those that its family writes at other sizes.
void change_program(Experiment& experiment, ProgramChange change);

}}  // namespace c3::workloads
