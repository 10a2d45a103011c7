#pragma once
/// What is said of a training step, as texts: the terminal's tables and the page print the same cells.

#include "results/cells.hpp"
#include "workloads/analysis/study.hpp"

namespace c3 { inline namespace results {

/// "0.268": GB, with three decimals.
std::string gigabytes(Bytes bytes);
/// Rates and the split of the time, a row for each strategy that has a step.
StudyCells step_cells(const StudyResult& study);
/// Time of each class of operators, a column for each strategy that has a step.
StudyCells class_cells(const StudyResult& study);
/// How long stages of a pipeline wait, a row for each strategy of one; none where there is no pipeline.
StudyCells bubble_cells(const StudyResult& study);
/// What a GPU holds at its peak, by class.
StudyCells memory_cells(const StepFacts& step);
/// The largest of it.
StudyCells tenant_cells(const StepFacts& step);

/// The step of the first strategy that has one, else null: what is known before a run is alike in all.
const StepResult* first_step(const StudyResult& study);

}}  // namespace c3::results
