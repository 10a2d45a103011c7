#include "studies/collectives/group_scores.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "collectives/library/ring_search.hpp"
#include "studies/collectives/scores.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr double kPercent = 100.0;

bool has_several_nodes(const ClusterSpec& cluster) { return cluster.nodes > 1; }

bool is_blackwell(const ClusterSpec& cluster) {
  return cluster.gpu.family.tuned_as == TunedGpu::blackwell && !goes_over_pcie(cluster);
}

struct Group {
  std::string_view id;
  std::string_view label;
  bool (*has)(const ClusterSpec&);
};

constexpr std::array kGroups = {Group{"several_nodes", "several nodes", has_several_nodes},
                                Group{"blackwell", "Blackwell with NVLink", is_blackwell},
                                Group{"pcie", "joined by PCIe alone", goes_over_pcie}};

void add_group(StudySection& section, const Group& group, const std::deque<TableRun>& tables,
               const PublishedFigures& published) {
  for (const bool large : {true, false}) {
    Errors errors;
    for (const TableRun& table : tables) {
      if (!table.sets_parameters() && group.has(table.cluster())) errors.add(table, large);
    }
    const auto score = errors.score();
    if (!score) continue;
    StudyLine line{
        .figure = {.of = published.find(fmt::format("time.{}.{}.median", group.id, large ? "large" : "small")),
                   .simulated = score->median},
        .label = fmt::format("{}, {}: median", group.label, large ? "from 1 MiB on" : "below 1 MiB")};
    line.rows = score->rows;
    line.beside = {{"p90", score->p90}, {"bias", score->bias}};
    section.lines.push_back(std::move(line));
  }
}

/// Share of tables that set nothing whose peak is within the limits of the figure `peak`.
std::optional<StudyLine> share_of_peaks(const std::deque<TableRun>& tables, const PublishedFigures& published) {
  const PublishedFigure limits = published.find("peak");
  std::size_t all = 0;
  std::size_t met = 0;
  for (const TableRun& table : tables) {
    const auto peak = table.sets_parameters() ? std::nullopt : peak_of(table);
    if (!peak) continue;
    ++all;
    met += std::abs(peak->error()) <= limits.high.value_or(0.0) ? 1U : 0U;
  }
  if (all == 0 || !limits.high) return std::nullopt;
  StudyLine line{.figure = {.of = published.find("peaks_met"),
                            .simulated = kPercent * static_cast<double>(met) / static_cast<double>(all)},
                 .label = fmt::format("tables whose peak bus bandwidth is within {:g} %", *limits.high)};
  line.rows = all;
  return line;
}

/// Differences of measured times at equal sizes, in percent: from kLargeFrom on, and below.
std::pair<std::vector<double>, std::vector<double>> differences(const TableRun& a, const TableRun& b) {
  std::map<double, Seconds> by_size;
  for (const PredictedCollective& row : b.rows())
    by_size.try_emplace(row.measured.bytes.value, row.measured.time);
  std::pair<std::vector<double>, std::vector<double>> found;
  for (const PredictedCollective& row : a.rows()) {
    const auto other = by_size.find(row.measured.bytes.value);
    if (other == by_size.end()) continue;
    auto& part = row.measured.bytes >= kLargeFrom ? found.first : found.second;
    part.push_back(kPercent * (row.measured.time / other->second - 1.0));
  }
  return found;
}

}  // namespace

StudySection group_scores(const std::deque<TableRun>& tables, const PublishedFigures& published) {
  StudySection section{
      .heading = "Groups of tables that set nothing", .lines = {}, .notes = {}, .value = "error"};
  for (const Group& group : kGroups)
    add_group(section, group, tables, published);
  if (auto share = share_of_peaks(tables, published)) section.lines.push_back(std::move(*share));
  return section;
}

StudySection site_differences(const std::deque<TableRun>& tables, const PublishedFigures& published) {
  StudySection section{
      .heading = "The same hardware in two files: measured against measured",
      .lines = {},
      .notes = {"one file as the prediction of the other; sites, versions and launch paths may differ"},
      .value = "median"};
  for (auto a = tables.begin(); a != tables.end(); ++a) {
    for (auto b = std::next(a); b != tables.end(); ++b) {
      if (!a->is_same_hardware(*b)) continue;
      const auto [large, small] = differences(*a, *b);
      const auto score = score_of(large);
      if (!score) continue;
      StudyLine line{.figure = {.of = published.find("sites." + a->id()),
                                .kind = FigureKind::input,
                                .simulated = score->median},
                     .label = fmt::format("{} | {}", a->name(), b->name())};
      line.rows = large.size() + small.size();
      line.beside = {{"p90", score->p90}, {"bias", score->bias}};
      if (const auto below = score_of(small)) line.beside.emplace_back("below: median", below->median);
      section.lines.push_back(std::move(line));
    }
  }
  return section;
}

}}  // namespace c3::studies
