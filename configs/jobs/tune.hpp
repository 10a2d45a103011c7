#pragma once
/// An experiment file as `c3sim tune` reads it: candidates, and what is wanted of them.

#include <filesystem>
#include <span>
#include <string>

#include "configs/jobs/sweep.hpp"
#include "configs/sweeps/tune_reader.hpp"

namespace c3 { inline namespace configs {

struct TuneFile {
  TuneGoal goal;
  Sweep space;  ///< only times are wanted: its experiments measure nothing alone and split no loss

  /// Reads \p path under \p sets. \throws ConfigError as take_tune() and Sweep::load()
  static TuneFile load(const std::filesystem::path& path, std::span<const std::string> sets = {});
};

}}  // namespace c3::configs
