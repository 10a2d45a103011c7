#pragma once
/// Steps of many micro-batches of which few are written.

#include <memory>

#include "workloads/experiment.hpp"

namespace c3 { inline namespace workloads {

/// As set_step(), but a step that does not fit in memory gets its facts alone: nobody simulates it.
void set_outline(Experiment& experiment, std::shared_ptr<const ProgramFamily> family);

/// The same step with so many layers and micro-batches, by set_outline().
Experiment outlined(const Experiment& experiment, const StepSize& size);

/// The step that \p outline begins, with the facts of the whole: enough to simulate it by run_step(), and to
/// bound it by lower_bound() (Experiment::is_outline).
/// \param outline as ExperimentFile::outline() makes it; what is written whole is returned as it is
Experiment outline_of_whole(Experiment outline);

/// How many micro-batches of the step of \p outline are written.
std::int64_t outlined_micro_batches(const Experiment& outline);

/// \p outline with the program that it lacks where the step does not fit in memory.
Experiment with_program(Experiment outline);

/// The step of \p outline with a program of all its micro-batches. \pre is_outline
Experiment written_whole(const Experiment& outline);

/// The same step with the micro-batches of the next size.
struct LargerOutline {
  Experiment experiment;
  double beyond = 0.0;  ///< how many times as much more than it the whole has as it has more than the outline
};
/// \pre is_outline
LargerOutline larger_outline(const Experiment& outline);

}}  // namespace c3::workloads
