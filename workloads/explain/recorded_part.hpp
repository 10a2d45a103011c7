#pragma once
/// One repetition of an experiment, for an observer.

#include "engine/observer.hpp"
#include "workloads/execute/partition.hpp"
#include "workloads/experiment.hpp"

namespace c3 { inline namespace workloads {

/// What of \p experiment is recorded: of a step that is shortened the largest part from which its time follows,
/// else all of it.
Experiment recorded_part(const Experiment& experiment);

/// Runs the first repetition of \p part, which starts in the state that its power limit settles to.
void record(const Experiment& part, const Strategy& strategy, const CuChoice& cus, Observer& observer);

}}  // namespace c3::workloads
