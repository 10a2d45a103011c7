#pragma once
/// A published study: what it needs, what it gives. `c3sim reproduce` prints every one alike.

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "configs/presets/study_card.hpp"
#include "studies/figure.hpp"
#include "studies/published_figures.hpp"

namespace c3 { inline namespace studies {

/// A figure and what stands beside it.
struct StudyLine {
  Figure figure;
  std::string label;
  std::size_t rows = 0;  ///< measurements that it is made of
  std::size_t skipped =
      0;  ///< measurements left out: the GPU cannot hold them, or no fit could be made for them
  /// The same number had by other means, and what belongs to it, in the order of the table's columns; a
  /// name that ends with a unit in brackets has that one.
  std::vector<std::pair<std::string, double>> beside = {};
};

struct StudySection {
  std::string heading;
  std::vector<StudyLine> lines = {};
  std::vector<std::string> notes = {};
  std::string value = "here";  ///< heads the column of the lines' figures
  int decimals = 1;            ///< of the table's numbers
};

using StudyReport = std::vector<StudySection>;

/// Called after each part of the work, from one thread at a time.
using StudyProgress = std::function<void(std::size_t done, std::size_t total)>;

/// What the command line says to a study.
struct StudyInput {
  std::filesystem::path data;     ///< folder of the measurements
  std::filesystem::path systems;  ///< map of tables to systems; empty: the study's own
  bool wants_rows = false;        ///< whether StudyOutcome::rows_csv is asked for
  bool wants_page = false;        ///< whether StudyOutcome::page is
  bool wants_weights = false;     ///< whether StudyOutcome::weights are
  int draws = 50;                 ///< of everything that is uncertain; 0: nominal values only
  std::size_t processes = 0;      ///< that simulate at a time; 0: as many as there are cores
  bool calibrated = false;        ///< whether results with a fitted term stand beside the predicted ones
  bool tornado = false;           ///< whether the sensitivity is worked out on everything
  StudyCard card = {};            ///< the study's
};

struct StudyOutcome {
  StudyReport report;
  std::vector<std::string> broken = {};  ///< what of the input could not be used: why, with its place
  std::string rows_csv = {};             ///< each measurement beside its prediction, where the study has them
  std::string page = {};                 ///< HTML, where the study has one
  std::map<std::string, std::string> weights = {};  ///< what was trained on all rows: file's name and text
  std::vector<std::string> notices = {};            ///< what the user may want to know of the input
};

/// An experiment for everyone that \p study uses, too: experiments/STUDY/NAME in the first folder of
/// configurations that has it. \throws IoError
std::filesystem::path experiment_of_study(std::string_view study, std::string_view name);

/// Whether no gated figure fails.
bool passes(const StudyReport& report);

}}  // namespace c3::studies
