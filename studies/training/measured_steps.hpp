#pragma once
/// Measured steps of published tables, each with the experiment that simulates it.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/units.hpp"
#include "studies/study.hpp"
#include "workloads/experiment.hpp"

namespace c3 { inline namespace studies {

/// The time of a step, and where it lies under everything that is a range.
struct StepTime {
  Seconds here;
  std::optional<Seconds> p5 = {}, p95 = {};
};

/// Steps as they were simulated before the model of steps was changed: first.csv of a study.
class FirstTable {
 public:
  /// Columns set, row, here_ms, p5_ms, p95_ms; the last two may be empty. \throws ConfigError, IoError
  explicit FirstTable(const std::filesystem::path& file);

  /// Absent where that step was not simulated then.
  std::optional<StepTime> find(const std::string& set, const std::string& row) const;

 private:
  std::map<std::pair<std::string, std::string>, StepTime> times_;
};

/// Shape of a GPT on GPUs of one node.
struct GptShape {
  std::int64_t hidden = 0, layers = 0, micro_batch = 0, micro_batches = 0;
  int gpus = 0, tensor_parallel = 0;
};

struct MeasuredStep {
  std::string set = {};     ///< of one table and one way of training: "mpt"
  std::string group = {};   ///< of rows that are scored together: "mpt", "simumax.tp2"
  std::string ranked = {};  ///< of layouts of one model; empty: is not ranked
  std::string row = {};     ///< "1b s2048 mb14"
  Seconds measured;
  std::optional<Bytes> in_use = {}, reserved = {};  ///< measured, most that a GPU's allocator had
  std::optional<StepTime> first = {};               ///< of first.csv
  std::string frame = {};                           ///< a file of configs/experiments/training/
  std::vector<std::string> sets = {};               ///< overrides that make the frame this row's step
  /// Makes that step, nominal or under a draw of everything that is a range.
  std::function<Experiment(std::optional<std::uint64_t> draw)> make = {};
  std::uint64_t draws = 10;  ///< that its interval is over
  std::optional<GptShape> gpt = {};
  bool is_judged = true;   ///< else only printed: its layout is a guess, or another study has it
  bool is_seeded = false;  ///< simulated with as many seeds as its experiment says, and draws with one
};

/// Sets how \p step is made of its frame. \throws ConfigError, IoError
void make_of_frame(MeasuredStep& step);

/// The rows of studies/STUDY/steps.csv, first simulated as \p first says, measured as
/// studies/training/sources.csv says of tables below \p data. What is wrong with some is added to \p broken.
/// \throws ConfigError for a table without a column, IoError
std::vector<MeasuredStep> read_measured_steps(std::string_view study, const std::filesystem::path& data,
                                              const FirstTable& first, std::vector<std::string>& broken);

}}  // namespace c3::studies
