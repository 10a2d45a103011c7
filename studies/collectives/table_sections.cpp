#include "studies/collectives/table_sections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/statistics.hpp"
#include "collectives/library/ring_search.hpp"
#include "importers/collective_times/error_score.hpp"

namespace c3 { inline namespace studies {
namespace {

using Tables = std::vector<const TableRun*>;

/// Rows from kLargeFrom on, then those below: whether they are large, in ids, in labels.
constexpr std::array<std::tuple<bool, const char*, const char*>, 2> kSizes = {
    {{true, "large", "from 1 MiB on"}, {false, "small", "below 1 MiB"}}};

FigureKind kind_of(const TableRun& table) {
  return table.sets_parameters() ? FigureKind::fitted : FigureKind::predicted;
}

StudySection section(std::string heading, std::string value, std::vector<std::string> notes = {}) {
  return {.heading = std::move(heading), .lines = {}, .notes = std::move(notes), .value = std::move(value)};
}

Tables those(const std::deque<TableRun>& tables, const std::function<bool(const TableRun&)>& has) {
  Tables found;
  for (const TableRun& table : tables)
    if (has(table)) found.push_back(&table);
  return found;
}

bool is_large(const PredictedCollective& row) { return row.measured.bytes >= kLargeFrom; }

/// Signed, in percent, of the rows that were simulated.
std::vector<double> errors_of(const TableRun& table, bool large) {
  std::vector<double> errors;
  for (const PredictedCollective& row : table.rows()) {
    if (row.simulated.time && is_large(row) == large)
      errors.push_back(100.0 * (*row.simulated.time / row.measured.time - 1.0));
  }
  return errors;
}

/// Every row counts alike.
std::vector<double> errors_of(const Tables& tables, bool large) {
  std::vector<double> all;
  for (const TableRun* table : tables)
    std::ranges::copy(errors_of(*table, large), std::back_inserter(all));
  return all;
}

StudySection times(const std::deque<TableRun>& tables, const PublishedFigures& published) {
  StudySection found =
      section("Time of collectives by table: absolute error from 1 MiB on, and below", "median",
              {"bias: median of the signed errors, above 0 where predictions are too slow. "
               "fitted: the table set a parameter."});
  for (const TableRun& table : tables) {
    const std::vector<double> small = errors_of(table, false);
    StudyLine line = error_line(published.find("time.table." + table.id()), kind_of(table), table.name(),
                                errors_of(table, true));
    line.rows += small.size();
    line.skipped = table.rows().size() - line.rows;
    if (const auto below = score_of(small))
      line.beside.insert(
          line.beside.end(),
          {{"below: median", below->median}, {"p90 below", below->p90}, {"bias below", below->bias}});
    found.lines.push_back(std::move(line));
  }
  return found;
}

/// The highest bus bandwidth in GB/s of rows from kLargeFrom on, measured and here; 0 without any.
std::pair<double, double> peak_of(const TableRun& table) {
  constexpr double kGiga = 1e9;
  std::pair<double, double> peak;
  for (const PredictedCollective& row : table.rows()) {
    if (!row.simulated.time || !is_large(row)) continue;
    peak.first = std::max(peak.first, table.bus_bandwidth(row, row.measured.time).value / kGiga);
    peak.second = std::max(peak.second, table.bus_bandwidth(row, *row.simulated.time).value / kGiga);
  }
  return peak;
}

StudySection peaks(const std::deque<TableRun>& tables, const PublishedFigures& published) {
  StudySection found = section("Peak bus bandwidth by table: error of ours", "error");
  for (const TableRun& table : tables) {
    const auto [measured, here] = peak_of(table);
    if (measured <= 0.0) continue;
    const PublishedFigure limits = published.find("peak");
    PublishedFigure reference = published.find("peak." + table.id());
    if (!table.sets_parameters()) {
      reference.low = limits.low;
      reference.high = limits.high;
      reference.gate = limits.gate;
    }
    found.lines.push_back({.figure = {.reference = std::move(reference),
                                      .kind = kind_of(table),
                                      .simulated = 100.0 * (here / measured - 1.0)},
                           .label = table.name(),
                           .beside = {{"measured [GB/s]", measured}, {"here [GB/s]", here}}});
  }
  return found;
}

/// Adds scores over rows of one size: every row alike, and the medians over tables of what each scores, for
/// which tables with many rows count no more than others.
void add_overall(StudySection& found, const PublishedFigures& published, const Tables& tables, FigureKind kind,
                 const std::tuple<bool, const char*, const char*>& size) {
  const auto [large, id, label] = size;
  const std::vector<double> errors = errors_of(tables, large);
  const auto score = score_of(errors);
  if (!score) return;
  std::vector<double> medians, p90s;
  for (const TableRun* table : tables) {
    if (const auto table_score = score_of(errors_of(*table, large))) {
      medians.push_back(table_score->median);
      p90s.push_back(table_score->p90);
    }
  }
  const std::string_view prefix = kind == FigureKind::fitted ? "fitted." : "";
  for (const auto& [what, words, value] :
       {std::tuple{"median", "median", score->median},
        {"p90", "90th percentile", score->p90},
        {"bias", "bias", score->bias},
        {"median.by_table", "median over tables of their medians", median(medians)},
        {"p90.by_table", "median over tables of their 90th percentiles", median(p90s)}})
    found.lines.push_back(
        {.figure = {.reference = published.find(fmt::format("{}time.{}.{}", prefix, id, what)),
                    .kind = kind,
                    .simulated = value},
         .label = fmt::format("{}, {}", label, words),
         .rows = errors.size()});
}

StudySection overall(const std::deque<TableRun>& tables, const PublishedFigures& published, FigureKind kind) {
  StudySection found = section(
      kind == FigureKind::fitted ? "All tables that set a parameter" : "All tables that set nothing", "error");
  const Tables of_kind = those(tables, [&](const TableRun& table) { return kind_of(table) == kind; });
  for (const auto& size : kSizes)
    add_overall(found, published, of_kind, kind, size);
  return found;
}

bool has_several_nodes(const ClusterSpec& cluster) { return cluster.nodes > 1; }

bool is_blackwell(const ClusterSpec& cluster) {
  return cluster.gpu.family.tuned_as == TunedGpu::blackwell && !goes_over_pcie(cluster);
}

/// Share of tables that set nothing whose peak is within the limits of the figure `peak`.
std::optional<StudyLine> share_of_peaks(const StudySection& peaks, const PublishedFigures& published) {
  const std::optional<double> most = published.find("peak").high;
  std::size_t all = 0, met = 0;
  for (const StudyLine& line : peaks.lines) {
    if (line.figure.kind != FigureKind::predicted) continue;
    ++all;
    met += std::abs(*line.figure.simulated) <= most.value_or(0.0) ? 1U : 0U;
  }
  if (all == 0 || !most) return std::nullopt;
  return StudyLine{.figure = {.reference = published.find("peaks_met"),
                              .simulated = 100.0 * static_cast<double>(met) / static_cast<double>(all)},
                   .label = fmt::format("tables whose peak bus bandwidth is within {:g} %", *most),
                   .rows = all};
}

StudySection groups(const std::deque<TableRun>& tables, const PublishedFigures& published,
                    const StudySection& peaks) {
  StudySection found = section("Groups of tables that set nothing", "error");
  for (const auto& [id, label, has] : {std::tuple{"several_nodes", "several nodes", &has_several_nodes},
                                       {"blackwell", "Blackwell with NVLink", &is_blackwell},
                                       {"pcie", "joined by PCIe alone", &goes_over_pcie}}) {
    const Tables group = those(tables, [has = has](const TableRun& table) {
      return !table.sets_parameters() && has(table.cluster());
    });
    for (const auto& [large, size, words] : kSizes) {
      const std::vector<double> errors = errors_of(group, large);
      if (!errors.empty())
        found.lines.push_back(error_line(published.find(fmt::format("time.{}.{}.median", id, size)),
                                         FigureKind::predicted, fmt::format("{}, {}: median", label, words),
                                         errors));
    }
  }
  if (auto share = share_of_peaks(peaks, published)) found.lines.push_back(std::move(*share));
  return found;
}

/// Differences of measured times at equal sizes, in percent.
std::vector<double> differences(const TableRun& a, const TableRun& b, bool large) {
  std::map<double, Seconds> by_size;
  for (const PredictedCollective& row : b.rows())
    by_size.try_emplace(row.measured.bytes.value, row.measured.time);
  std::vector<double> found;
  for (const PredictedCollective& row : a.rows()) {
    const auto other = by_size.find(row.measured.bytes.value);
    if (other != by_size.end() && is_large(row) == large)
      found.push_back(100.0 * (row.measured.time / other->second - 1.0));
  }
  return found;
}

StudySection sites(const std::deque<TableRun>& tables, const PublishedFigures& published) {
  StudySection found =
      section("The same hardware in two files: measured against measured", "median",
              {"one file as the prediction of the other; sites, versions and launch paths may differ"});
  for (auto a = tables.begin(); a != tables.end(); ++a) {
    for (auto b = std::next(a); b != tables.end(); ++b) {
      if (!a->is_same_hardware(*b)) continue;
      const std::vector<double> large = differences(*a, *b, true), small = differences(*a, *b, false);
      if (large.empty()) continue;
      StudyLine line = error_line(published.find("sites." + a->id()), FigureKind::input,
                                  fmt::format("{} | {}", a->name(), b->name()), large);
      line.rows += small.size();
      if (const auto below = score_of(small)) line.beside.emplace_back("below: median", below->median);
      found.lines.push_back(std::move(line));
    }
  }
  return found;
}

StudySection regrets(const std::deque<TableRun>& tables, const PublishedFigures& published) {
  constexpr double kMuchSlower = 20.0;  // percent
  StudySection found = section(
      "The library's choice against the fastest method that it offers, both simulated", "median",
      {"How much longer the chosen method takes here; a tuner goes by its own estimates, and so do these."});
  for (const auto& [large, id, label] : kSizes) {
    std::vector<double> slower;  // in percent, of rows whose method the library chose
    for (const TableRun& table : tables)
      for (const PredictedCollective& row : table.rows())
        if (is_large(row) == large) std::ranges::copy(row.simulated.values, std::back_inserter(slower));
    const auto score = score_of(slower);
    if (!score) continue;
    const auto much = std::ranges::count_if(slower, [](double percent) { return percent > kMuchSlower; });
    StudyLine line =
        error_line(published.find(fmt::format("regret.{}", id)), FigureKind::predicted, label, slower);
    line.beside = {{"p90", score->p90},
                   {"most", std::ranges::max(slower)},
                   {"more than a fifth slower [rows]", static_cast<double>(much)}};
    found.lines.push_back(std::move(line));
  }
  return found;
}

}  // namespace

StudyLine error_line(PublishedFigure reference, FigureKind kind, std::string label,
                     const std::vector<double>& errors) {
  StudyLine line{.figure = {.reference = std::move(reference), .kind = kind},
                 .label = std::move(label),
                 .rows = errors.size()};
  if (const auto score = score_of(errors)) {
    line.figure.simulated = score->median;
    line.beside = {{"p90", score->p90}, {"bias", score->bias}};
  }
  return line;
}

StudyReport table_sections(const std::deque<TableRun>& tables, const PublishedFigures& published) {
  const StudySection peak = peaks(tables, published);
  StudyReport report = {times(tables, published),
                        peak,
                        overall(tables, published, FigureKind::predicted),
                        groups(tables, published, peak),
                        overall(tables, published, FigureKind::fitted),
                        sites(tables, published),
                        regrets(tables, published)};
  std::erase_if(report, [](const StudySection& section) { return section.lines.empty(); });
  return report;
}

}}  // namespace c3::studies
