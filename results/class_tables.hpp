#pragma once
/// Classes of ranks in the file: /strategies/<name>/classes, and ranks, which expands them.

#include <string>
#include <vector>

#include "results/result_file.hpp"
#include "results/result_reader.hpp"
#include "workloads/execute/run_result.hpp"

namespace c3 { inline namespace results {

void write_classes(const H5Id& strategy, const std::vector<SimulatedClass>& classes, NameTable& names);

/// Without what their operators take. None of a file before 1.6.0. \throws IoError for tables that contradict
/// each other
std::vector<SimulatedClass> read_classes(const ResultReader& file, const std::string& strategy);

}}  // namespace c3::results
