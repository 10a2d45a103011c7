#pragma once
/// What `c3sim collective --table` takes from a job's log where no option says it.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/collective/collective_options.hpp"
#include "app/collective/measured_choice.hpp"
#include "collectives/spec.hpp"
#include "configs/foreign/file_reading.hpp"

namespace c3 { inline namespace app {

/// `taken`, `assumed` and `ignored` say where each came from. Keys are those of an experiment, or options.
struct LoggedSetup {
  ClusterSpec cluster;
  std::vector<std::pair<std::string, std::string>> environment;  ///< variables and values that the library gets
  std::optional<LaunchPath> launch = std::nullopt;
  std::vector<TakenKey> taken = {};
  std::vector<AssumedKey> assumed = {};
  std::vector<IgnoredKey> ignored = {};
  std::vector<std::string> differences = {};  ///< between the log and what is simulated, a clause each
};

/// The system of \p options, or where it is "auto" that of \p file, with the nodes, the library's release and
/// its variables as the file says them, but for what \p options say. \param environment of --env \throws
/// UsageError, ConfigError
LoggedSetup logged_setup(const CollectiveOptions& options, const std::optional<TableFile>& file,
                         std::vector<std::pair<std::string, std::string>> environment);

}}  // namespace c3::app
