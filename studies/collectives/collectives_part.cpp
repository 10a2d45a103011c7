#include "studies/collectives/collectives_part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "base/nearest_name.hpp"
#include "studies/collectives/group_scores.hpp"

namespace c3 { inline namespace studies {
namespace {

FigureKind kind_of(const TableRun& table) {
  return table.sets_parameters() ? FigureKind::fitted : FigureKind::predicted;
}

std::optional<ErrorScore> score_of_rows(const TableRun& table, bool large) {
  Errors errors;
  errors.add(table, large);
  return errors.score();
}

StudyLine line_of(PublishedFigure of, FigureKind kind, std::string label,
                  const std::optional<ErrorScore>& score, double ErrorScore::*value) {
  StudyLine line{.figure = {.of = std::move(of), .kind = kind}, .label = std::move(label)};
  if (!score) return line;
  line.figure.simulated = (*score).*value;
  line.rows = score->rows;
  return line;
}

constexpr double kMuchSlower = 20.0;  // percent

/// In percent, of rows whose method the library chose.
std::vector<double> regrets_of(const std::deque<TableRun>& tables, bool large) {
  std::vector<double> slower;
  for (const TableRun& table : tables) {
    for (const PredictedCollective& row : table.rows()) {
      if ((row.measured.bytes >= kLargeFrom) == large)
        slower.insert(slower.end(), row.simulated.values.begin(), row.simulated.values.end());
    }
  }
  return slower;
}

std::optional<CollectiveKind> operation_of(const MapEntry& entry) {
  if (entry.op.empty()) return std::nullopt;
  if (const auto kind = operation_named(entry.op)) return kind;
  throw ConfigError(entry.op_at, "op", unknown_name("operation", entry.op, offered_operations()));
}

}  // namespace

void CollectivesPart::add(const HeadedTable& file, const MapEntry& entry) {
  MeasuredTables measured = read_measured_tables(file, entry.where, operation_of(entry));
  std::ranges::move(measured.broken, std::back_inserter(broken_));
  if (measured.tables.empty()) throw ConfigError(entry.at, "file", "has no row to run");
  std::map<std::pair<int, std::string>, std::shared_ptr<const ClusterSpec>> clusters;  // by nodes and library
  for (CollectiveTable& table : measured.tables) {
    try {
      MapEntry of_table = entry;
      of_table.nodes = entry.nodes.value_or(table.nodes.value_or(1));
      auto& cluster = clusters[{*of_table.nodes, table.library}];
      if (!cluster) cluster = load_system(of_table, table.library);
      TableRun run(file.file(), std::move(table), of_table, cluster);
      const auto same = [&](const TableRun& other) { return other.name() == run.name(); };
      if (std::ranges::any_of(tables_, same)) run.rename(fmt::format("{} @{}", run.name(), entry.at.line));
      tables_.push_back(std::move(run));
    } catch (const ConfigError& error) {
      broken_.emplace_back(error.what());
    }
  }
}

void CollectivesPart::plan(SimulationJobs& jobs) {
  for (TableRun& table : tables_)
    table.plan(jobs);
}

std::vector<std::string> CollectivesPart::broken() const {
  std::vector<std::string> all = broken_;
  for (const TableRun& table : tables_)
    std::ranges::move(table.refusals(), std::back_inserter(all));
  return all;
}

std::string CollectivesPart::rows_as_csv() const {
  std::string text = fmt::format("{}\n", TableRun::kRowColumns);
  for (const TableRun& table : tables_)
    text += table.rows_as_csv();
  return text;
}

StudySection CollectivesPart::times(const PublishedFigures& published) const {
  StudySection section{.heading = "Time of collectives by table: absolute error from 1 MiB on, and below",
                       .lines = {},
                       .notes = {},
                       .value = "median"};
  for (const TableRun& table : tables_) {
    const auto large = score_of_rows(table, true);
    const auto small = score_of_rows(table, false);
    StudyLine line = line_of(published.find("time.table." + table.id()), kind_of(table), table.name(), large,
                             &ErrorScore::median);
    line.rows = (large ? large->rows : 0) + (small ? small->rows : 0);
    line.skipped = table.rows().size() - line.rows;
    if (large) line.beside = {{"p90", large->p90}, {"bias", large->bias}};
    if (small)
      line.beside.insert(
          line.beside.end(),
          {{"below: median", small->median}, {"p90 below", small->p90}, {"bias below", small->bias}});
    section.lines.push_back(std::move(line));
  }
  section.notes = {
      "bias: median of the signed errors, above 0 where predictions are too slow. fitted: the table set a "
      "parameter."};
  return section;
}

StudySection CollectivesPart::peaks(const PublishedFigures& published) const {
  StudySection section{
      .heading = "Peak bus bandwidth by table: error of ours", .lines = {}, .notes = {}, .value = "error"};
  for (const TableRun& table : tables_) {
    const auto peak = peak_of(table);
    if (!peak) continue;
    const PublishedFigure limits = published.find("peak");
    PublishedFigure of = published.find("peak." + table.id());
    if (!table.sets_parameters()) {
      of.low = limits.low;
      of.high = limits.high;
      of.gate = limits.gate;
    }
    StudyLine line{.figure = {.of = std::move(of), .kind = kind_of(table), .simulated = peak->error()},
                   .label = table.name()};
    line.beside = {{"measured [GB/s]", peak->measured}, {"here [GB/s]", peak->here}};
    section.lines.push_back(std::move(line));
  }
  return section;
}

StudySection CollectivesPart::overall(const PublishedFigures& published, bool of_setting) const {
  Errors large, small;
  for (const TableRun& table : tables_) {
    if (table.sets_parameters() != of_setting) continue;
    large.add(table, true);
    small.add(table, false);
  }
  StudySection section{
      .heading = of_setting ? "All tables that set a parameter" : "All tables that set nothing",
      .lines = {},
      .notes = {},
      .value = "error"};
  const FigureKind kind = of_setting ? FigureKind::fitted : FigureKind::predicted;
  const auto add = [&](const std::string& id, const std::string& label, const std::optional<ErrorScore>& score,
                       double ErrorScore::*value) {
    if (!score) return;
    section.lines.push_back(
        line_of(published.find(of_setting ? "fitted." + id : id), kind, label, score, value));
  };
  for (const auto& [errors, size, what] :
       {std::tuple{&large, "large", "from 1 MiB on"}, {&small, "small", "below 1 MiB"}}) {
    const auto score = errors->score();
    const auto middle = errors->median_table();
    const auto id = [size = size](const char* value) { return fmt::format("time.{}.{}", size, value); };
    const auto label = [what = what](const char* value) { return fmt::format("{}, {}", what, value); };
    add(id("median"), label("median"), score, &ErrorScore::median);
    add(id("p90"), label("90th percentile"), score, &ErrorScore::p90);
    add(id("bias"), label("bias"), score, &ErrorScore::bias);
    add(id("median.by_table"), label("median over tables of their medians"), middle, &ErrorScore::median);
    add(id("p90.by_table"), label("median over tables of their 90th percentiles"), middle, &ErrorScore::p90);
  }
  return section;
}

StudySection CollectivesPart::regrets(const PublishedFigures& published) const {
  StudySection section{
      .heading = "The library's choice against the fastest method that it offers, both simulated",
      .lines = {},
      .notes = {},
      .value = "median"};
  for (const auto& [large, id, label] :
       {std::tuple{true, "large", "from 1 MiB on"}, {false, "small", "below 1 MiB"}}) {
    const std::vector<double> slower = regrets_of(tables_, large);
    const auto score = score_of(slower);
    if (!score) continue;
    StudyLine line = line_of(published.find(fmt::format("regret.{}", id)), FigureKind::predicted, label, score,
                             &ErrorScore::median);
    const auto much = std::ranges::count_if(slower, [](double percent) { return percent > kMuchSlower; });
    line.beside = {{"p90", score->p90},
                   {"most", std::ranges::max(slower)},
                   {"more than a fifth slower [rows]", static_cast<double>(much)}};
    section.lines.push_back(std::move(line));
  }
  section.notes = {
      "How much longer the chosen method takes here; a tuner goes by its own estimates, and so do these."};
  return section;
}

StudyReport CollectivesPart::sections(const PublishedFigures& published) const {
  StudyReport report;
  for (StudySection& section : std::vector{times(published), peaks(published), overall(published, false),
                                           group_scores(tables_, published), overall(published, true),
                                           site_differences(tables_, published), regrets(published)}) {
    if (!section.lines.empty()) report.push_back(std::move(section));
  }
  return report;
}

}}  // namespace c3::studies
