#pragma once

#include <vector>

#include "configs/toml/config_diff.hpp"
#include "results/diff/run_diff.hpp"
#include "results/result_reader.hpp"

namespace c3 { inline namespace app {

/// Keys of the resolved configuration that differ between two result files, in the order of the first.
std::vector<TextChange> configuration_changes(const ResultReader& a, const ResultReader& b,
                                              const ConfigDiffOptions& options);

/// The changes among these whose keys define the work: streams, model or network, sequence and batches of a
/// training step. Machine, strategies, measurement, and how a step is spread do not define it.
std::vector<TextChange> work_changes(const ResultReader& a, const ResultReader& b);

}}  // namespace c3::app
