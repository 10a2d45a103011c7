#pragma once
/// The tables of a study as texts: the terminal and the page print the same cells.

#include <string>

#include "results/cells.hpp"
#include "results/time_unit.hpp"
#include "workloads/analysis/study.hpp"

namespace c3 { inline namespace results {

/// Times and ratios, a row for each strategy. Columns that would say nothing are left out: the spread of a
/// single run, CUs where no partition was tried, and kernels and collectives of a training step, which has many
/// such.
StudyCells time_cells(const StudyResult& study);
/// The loss split, a row for each strategy that has one.
StudyCells loss_cells(const StudyResult& study);
/// A column for each stream; no rows unless streams are compared with one another.
StudyCells stream_cells(const StudyResult& study);
/// Shows how each class of ranks spends its time; no rows unless ranks have names.
StudyCells rank_cells(const StudyResult& study);
/// How \p time was found that was not simulated whole, how far it may be off, and how much was simulated.
std::string estimate_text(const Estimate& estimate, Seconds time, const TimeUnit& unit);
/// "8 seeds x 50 draws"
std::string repetitions_text(const StudyConditions& conditions);
/// The modelling choices that move results and that no vendor documents.
std::string conditions_text(const StudyConditions& conditions);

}}  // namespace c3::results
