#pragma once
/// How much of what its steps take a strategy goes through in a second, as texts.

#include <array>
#include <optional>
#include <string>

#include "results/cells.hpp"
#include "workloads/analysis/study.hpp"

namespace c3 { inline namespace results {

/// Images, samples or sequences a second, a row for each strategy; none of a training step of tokens, whose own
/// table has them.
StudyCells throughput_cells(const StudyResult& study);
/// "images/s"
std::string per_second_text(StepItem item);
/// Throughput of all GPUs and of one; absent cells where nothing is known.
std::array<std::string, 2> throughput_texts(const std::optional<Throughput>& throughput);

}}  // namespace c3::results
