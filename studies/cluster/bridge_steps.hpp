#pragma once
/// Measured steps of Megatron-Bridge's performance summary, each with the experiment that simulates it.

#include <filesystem>
#include <string>
#include <vector>

#include "studies/training/measured_steps.hpp"

namespace c3 { inline namespace studies {

inline constexpr StudyFile kBridgeTable = {
    "training/nemo_megatron_bridge_llama_qwen30b.csv",
    "LLaMA 3 8B and 70B and Qwen3 30B-A3B on 8 and 64 B200 to GB300, Megatron-Bridge"};

/// A row of two precisions is two steps. What is wrong with others is added to \p broken.
/// \throws ConfigError for a table without a column, IoError
std::vector<MeasuredStep> read_bridge_steps(const std::filesystem::path& data,
                                            std::vector<std::string>& broken);

}}  // namespace c3::studies
