#pragma once
/// Steps as they were simulated before the model of steps was changed: studies/training/first.csv.

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "engine/units.hpp"

namespace c3 { inline namespace studies {

/// The time of a step, and where it lies under everything that is a range.
struct StepTime {
  Seconds here;
  std::optional<Seconds> p5 = {}, p95 = {};
};

class FirstTable {
 public:
  /// Columns set, row, here_ms, p5_ms, p95_ms; the last two may be empty. \throws ConfigError, IoError
  explicit FirstTable(const std::filesystem::path& file);

  /// Absent where that step was not simulated then.
  std::optional<StepTime> find(const std::string& set, const std::string& row) const;

 private:
  std::map<std::pair<std::string, std::string>, StepTime> times_;
};

}}  // namespace c3::studies
