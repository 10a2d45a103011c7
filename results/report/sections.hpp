#pragma once
/// The parts of the page, each a <section>.

#include <span>
#include <string>
#include <vector>

#include "results/report/plot.hpp"
#include "results/report/report_run.hpp"

namespace c3 {

/// What all sections share.
struct ReportScope {
  std::span<const ReportRun> runs;
  std::vector<std::string> strategies;  ///< of all runs, in the order of the first that has them
  TimeAxis axis;

  bool compares() const { return runs.size() > 1; }
};

std::string head_section(const ReportScope& scope, const std::string& title);
std::string glance_section(const ReportScope& scope);
std::string table_section(const ReportScope& scope);
std::string loss_section(const ReportScope& scope);
std::string timeline_section(const ReportScope& scope);
std::string definitions_section();
std::string provenance_section(const ReportScope& scope);

/// What the numbers of one strategy say, in a few sentences made of these numbers alone.
std::string reading(const ReportRun& run, std::size_t strategy, const TimeAxis& axis);

}  // namespace c3
