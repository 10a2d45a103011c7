#pragma once
/// Measured steps of clusters, each with the experiment that simulates it.

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "studies/training/measured_steps.hpp"

namespace c3 { inline namespace studies {

/// The table that read_cluster_steps reads beside kStepTables, below the data folder.
inline constexpr std::string_view kClusterTable = "training/dgxc_h100_8b_cp2_175b_bf16.csv";

/// All rows over several nodes, with a pipeline or with context parallelism, whose layout is given, and
/// torchtitan's in fp8. What is wrong with others is added to \p broken.
/// \throws ConfigError for a table without a column, IoError
std::vector<MeasuredStep> read_cluster_steps(const std::filesystem::path& data,
                                             std::vector<std::string>& broken);

}}  // namespace c3::studies
