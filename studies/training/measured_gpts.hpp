#pragma once
/// Measured steps of GPTs on the GPUs of one node, each beside its simulation.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "studies/study.hpp"
#include "studies/training/step_scores.hpp"

namespace c3 { inline namespace studies {

/// Rows without a pipeline, whose ranks and batches multiply up, of a table with the columns GPUs, global
/// batch, micro batch, hidden size, attention heads, layers, sequence length, tensor, data and pipeline
/// parallelism, iteration time (ms): of the set "gpt", each \p frame with its model, ranks and batches. What is
/// wrong with others is added to \p broken. \throws ConfigError, IoError
std::vector<MeasuredStep> read_measured_gpts(const std::filesystem::path& file,
                                             const std::shared_ptr<const Experiment>& frame,
                                             std::vector<std::string>& broken);

/// Mean absolute error over all, and by what a row is bound by and how it is spread.
/// \param slow the same with the longest host times that are assumed
StudySection gpts_section(const std::vector<SimulatedStep>& steps, const std::vector<SimulatedStep>& slow,
                          const PublishedFigures& published);
/// The fifth of the rows with the largest error.
StudySection worst_gpts(const std::vector<SimulatedStep>& steps, const PublishedFigures& published);

}}  // namespace c3::studies
