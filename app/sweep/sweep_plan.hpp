#pragma once
/// What a sweep is to simulate, known before anything is simulated.

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "configs/jobs/sweep.hpp"
#include "results/sweep/sweep_folder.hpp"
#include "workloads/recommendation/sharders.hpp"

namespace c3 { inline namespace app {

/// A sweep as the command line names it.
struct SweepRequest {
  std::string file;
  std::vector<std::string> sets;
  std::filesystem::path folder;  ///< empty: out/<experiment>
};

struct SweepPlan {
  Sweep sweep;
  SweepFolder folder;
  SweepManifest manifest;
  /// What is wrong with each point's configuration; empty for a sound one.
  std::vector<std::string> refused;
  /// Placements of points whose tables were placed already (table_placement.hpp), so that nobody searches
  /// again.
  std::map<std::size_t, Placement> placements = {};
};

/// A point whose experiment was read.
struct ReadPoint {
  std::string id = {};       ///< id of what is simulated; empty: it could not be read
  std::string refused = {};  ///< what is wrong with its configuration
};

/// Reads every point's experiment once. \param progress called with (read, all) points.
/// \throws ConfigError, also when all points are refused
SweepPlan plan_sweep(const SweepRequest& request,
                     const std::function<void(std::size_t, std::size_t)>& progress);

/// Plans \p sweep, which \p verb of the command read out of the file of \p request, into the folder of \p
/// request.
/// \param points the points of \p sweep
SweepPlan plan_points(Sweep sweep, const std::vector<ReadPoint>& points, const std::string& verb,
                      const SweepRequest& request);

/// Writes the manifest unless it is there, and takes out results of \p points that are not as c3sim wrote them;
/// other processes may be at work on the others. \returns what a user should know of that and of an earlier
/// manifest. \throws UsageError when the folder has another sweep, IoError
std::vector<std::string> claim_folder(const SweepPlan& plan, const std::vector<std::size_t>& points);

}}  // namespace c3::app
