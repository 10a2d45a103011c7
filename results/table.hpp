#pragma once
/// The tables that `c3sim run` prints.

#include <string>
#include <vector>

#include "workloads/analysis/impossible_strategies.hpp"
#include "workloads/analysis/out_of_memory.hpp"
#include "workloads/analysis/study.hpp"

namespace c3 { inline namespace results {

/// The conditions, then times and ratios of every strategy, then of a training step its rates, the time of its
/// classes of operators and its memory, then, when any strategy has one, its loss split, and last why the
/// fastest strategy takes as long as it does (run_words()) and which strategy to take. At most 110 characters
/// wide for strategy names up to 23 characters. Absent numbers are "-".
/// \param impossible strategies of the experiment that cannot run: a line each
std::string format_study(const StudyResult& study, const std::vector<ImpossibleStrategy>& impossible = {});

/// Who takes a GPU's memory when a step takes most.
std::string format_memory(const StepFacts& step);

/// Who takes the memory of a step that does not fit, and a sentence that says so.
std::string format_out_of_memory(const OutOfMemory& verdict);

}}  // namespace c3::results
