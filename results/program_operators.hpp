#pragma once
/// Table /operators of a program file: what its work computes, in the words of tables of kernels.

#include <cstddef>
#include <string>
#include <vector>

#include "results/hdf5_handle.hpp"
#include "workloads/traces/replay/recorded_run.hpp"

namespace c3 { inline namespace results {

inline constexpr const char* kOperators = "operators";

/// A column for each of kShapeKeys: texts, or whole numbers of which -1 is not given; `in_another` and `note`.
void write_operators(const H5Id& file, const RecordedRun& run);

/// None for a file before 1.1.0. \param names rows of /names \throws IoError about \p path for what is no
/// operator
std::vector<RecordedOperator> read_operators(const H5Id& file, const std::string& path, std::size_t names);

}}  // namespace c3::results
