#pragma once
/// What the command line asks of a published study. c3sim reads it and starts c3sim-reproduce, which reads it
/// again and runs the study.

#include <functional>
#include <optional>
#include <string>

#include "app/command/verb.hpp"
#include "configs/presets/study_card.hpp"

namespace c3 { inline namespace app {

struct ReproduceRequest {
  std::string name;     ///< the study's name
  std::string data;     ///< folder of the measured tables; empty: as data_folder has it
  std::string systems;  ///< map of tables to systems; empty: the study's own
  std::string rows;     ///< file for every measurement; empty: none
  std::string page;     ///< file for the page; empty: none
  std::string weights;  ///< folder for what is trained; empty: none
  std::optional<int> draws, jobs;
  bool calibrated = false;
  bool tornado = false;
  bool json = false;
  bool quiet = false;
};

/// The card of the study that \p name names. \throws UsageError with the nearest name; ConfigError for a broken
/// card
StudyCard study_called(const std::string& name);

/// Adds `reproduce` to \p app. Its action refuses what the study has no use for, then calls \p reproduce.
void add_reproduce_command(Command& app, VerbAction& action,
                           const std::function<int(const ReproduceRequest&)>& reproduce);

}}  // namespace c3::app
