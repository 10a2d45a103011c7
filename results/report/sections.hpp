#pragma once
/// The parts of the page, each a <section>.

#include <array>
#include <span>
#include <string>
#include <vector>

#include "results/report/plot.hpp"
#include "results/report/report_run.hpp"

namespace c3 { inline namespace results {

/// A part of the loss split, in the order in which all tables have them.
struct LossPart {
  const char* css_class;
  const char* name;
  Seconds LossSplit::*loss;
};
inline constexpr std::array kLossParts{LossPart{"dispatch", "dispatch", &LossSplit::dispatch},
                                       LossPart{"cus", "CUs", &LossSplit::cus},
                                       LossPart{"cache", "cache", &LossSplit::cache},
                                       LossPart{"hbm", "HBM", &LossSplit::hbm},
                                       LossPart{"links", "links", &LossSplit::links},
                                       LossPart{"interaction", "interaction", &LossSplit::interaction}};

/// What all sections share.
struct ReportScope {
  std::span<const ReportRun> runs;
  std::vector<std::string> strategies;  ///< strategies of all runs, in the order of the first that has them
  TimeAxis axis;                        ///< the axis for times
  TimeAxis timelines;                   ///< the axis for what is drawn, which may be a part of a training step

  bool compares() const { return runs.size() > 1; }
  /// "token", "image": by the time per which runs are compared, as all are steps of them and not all do the
  /// same work; empty where they are compared by time.
  std::string compared_item() const;
};

std::string head_section(const ReportScope& scope, const std::string& title);
std::string overview_section(const ReportScope& scope);
std::string table_section(const ReportScope& scope);
std::string step_section(const ReportScope& scope);
std::string loss_section(const ReportScope& scope);
std::string timeline_section(const ReportScope& scope);
/// Channels of memory over time, and what camps on them. Empty where memory is simulated as a whole.
std::string channels_section(const ReportScope& scope);
std::string definitions_section();
std::string provenance_section(const ReportScope& scope);

/// What is seen first: the fastest strategy of every run, and the loss in which another differs most from the
/// first.
std::vector<std::string> summary(const ReportScope& scope);
/// What the numbers of one strategy say, in a few sentences made of these numbers alone.
std::string reading(const ReportRun& run, std::size_t strategy, const TimeAxis& axis);

}}  // namespace c3::results
