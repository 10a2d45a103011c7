#pragma once
/// Measured steps of MLPerf's fine-tuning benchmark, each with the experiment that simulates it.

#include <filesystem>
#include <string>
#include <vector>

#include "studies/training/measured_steps.hpp"

namespace c3 { inline namespace studies {

/// A row for each layout that a configuration of the submission names. Those of the row's own GPU are of the
/// set `lora_nvidia` or `lora_amd`; those that are named after another GPU are of `lora_other`. Rows of other
/// benchmarks are left out; what is wrong with others is added to \p broken.
/// \throws ConfigError for a table without a column, IoError
std::vector<MeasuredStep> read_lora_steps(const std::filesystem::path& data, std::vector<std::string>& broken);

}}  // namespace c3::studies
