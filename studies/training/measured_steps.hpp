#pragma once
/// Measured steps of published tables, each with the experiment that simulates it.

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/units.hpp"
#include "studies/study.hpp"

namespace c3 { inline namespace studies {

struct MeasuredStep {
  std::string set = {};    ///< of one table and one way of training: "mpt"
  std::string group = {};  ///< of rows that are scored together: "mpt", "simumax.tp2"
  std::string row = {};    ///< "1b s2048 mb14"
  Seconds measured;
  std::optional<Bytes> in_use = {}, reserved = {};  ///< measured, most that a GPU's allocator had
  std::string frame = {};                           ///< a file of configs/experiments/training/
  std::vector<std::string> sets = {};               ///< overrides that make the frame this row's step
  bool is_judged = true;  ///< else only printed: its layout is a guess, or another study has it
};

/// The tables that read_measured_steps reads, below the data folder.
inline constexpr std::array kStepTables = {std::string_view("training/torchtitan_8b_128gpu_and_async_tp.csv"),
                                           std::string_view("training/mosaic_mpt_a100_80g_125m_1b.csv"),
                                           std::string_view("training/simumax_b200_70b.csv"),
                                           std::string_view("training/vtrain_multi_node_18b_39b.csv")};

/// All rows without a pipeline and without fp8. What is wrong with others is added to \p broken.
/// \throws ConfigError for a table without a column, IoError
std::vector<MeasuredStep> read_measured_steps(const std::filesystem::path& data,
                                              std::vector<std::string>& broken);

}}  // namespace c3::studies
