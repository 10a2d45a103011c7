#pragma once
/// A training step in the file: /strategies/<name>/step, step_classes and memory.

#include <optional>
#include <string>

#include "results/result_file.hpp"
#include "results/result_reader.hpp"
#include "workloads/analysis/study.hpp"

namespace c3 { inline namespace results {

/// Writes the step of a strategy that has one. \param recorded end of the run whose timeline the file has
void write_step(const H5Id& strategy, const StrategyResult& result, Seconds recorded, NameTable& names);

/// nullopt when the strategy has none.
std::optional<StepResult> read_step(const ResultReader& file, const std::string& strategy);

/// Reads the step, else the summary; nullopt when neither has one, as before 1.13.0 where there is no step.
std::optional<Throughput> read_throughput(const ResultReader& file, const std::string& strategy);

/// What write_step was told; the strategy's time when it has no step.
std::int64_t recorded_picoseconds(const ResultReader& file, const std::string& strategy);

}}  // namespace c3::results
