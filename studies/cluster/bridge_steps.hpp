#pragma once
/// Measured steps of Megatron-Bridge's performance summary, each with the experiment that simulates it.

#include <filesystem>
#include <string>
#include <vector>

#include "studies/training/measured_steps.hpp"

namespace c3 { inline namespace studies {

/// A row of two precisions is two steps. What is wrong with others is added to \p broken.
/// \throws ConfigError for a table without a column, IoError
std::vector<MeasuredStep> read_bridge_steps(const std::filesystem::path& data,
                                            std::vector<std::string>& broken);

}}  // namespace c3::studies
