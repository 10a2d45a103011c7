#pragma once
/// c3sim report of a merged sweep.

#include <string>
#include <vector>

namespace c3 { inline namespace app {

/// The options of a sweep's page as given on the command line; empty: chosen by what the sweep has.
struct SweepReportOptions {
  std::string x, y, series;
  std::vector<std::string> heat, pareto, for_each, choose;
  std::vector<std::string> only;  ///< KEY=VALUE

  /// The first option that was given, or empty.
  std::string first_given() const;
};

/// The page of \p file. \throws UsageError naming what the sweep does not have, IoError
std::string sweep_report(const std::string& file, const std::vector<std::string>& strategies,
                         const std::string& title, const SweepReportOptions& options);

}}  // namespace c3::app
