#include "studies/collectives/scores.hpp"

#include <algorithm>
#include <cmath>

#include "base/statistics.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr double kPercent = 100.0;

bool is_large(const PredictedCollective& row) { return row.measured.bytes >= kLargeFrom; }

}  // namespace

void Errors::add(const TableRun& table, bool large) {
  std::vector<double> errors;
  for (const PredictedCollective& row : table.rows()) {
    if (row.simulated.time && is_large(row) == large)
      errors.push_back(kPercent * (*row.simulated.time / row.measured.time - 1.0));
  }
  if (!errors.empty()) tables_.push_back(std::move(errors));
}

std::optional<ErrorScore> Errors::score() const {
  std::vector<double> all;
  for (const std::vector<double>& table : tables_)
    all.insert(all.end(), table.begin(), table.end());
  return score_of(all);
}

std::optional<ErrorScore> Errors::median_table() const {
  if (tables_.empty()) return std::nullopt;
  ErrorScore middle;
  std::vector<double> medians, p90s, biases;
  for (const std::vector<double>& table : tables_) {
    const auto score = score_of(table);
    middle.rows += score->rows;
    medians.push_back(score->median);
    p90s.push_back(score->p90);
    biases.push_back(score->bias);
  }
  middle.median = median(medians);
  middle.p90 = median(p90s);
  middle.bias = median(biases);
  return middle;
}

double PeakScore::error() const { return kPercent * (here / measured - 1.0); }

std::optional<PeakScore> peak_of(const TableRun& table) {
  PeakScore peak;
  constexpr double kGiga = 1e9;
  for (const PredictedCollective& row : table.rows()) {
    if (!row.simulated.time || !is_large(row)) continue;
    peak.measured = std::max(peak.measured, table.bus_bandwidth(row, row.measured.time).value / kGiga);
    peak.here = std::max(peak.here, table.bus_bandwidth(row, *row.simulated.time).value / kGiga);
  }
  if (peak.measured <= 0.0) return std::nullopt;
  return peak;
}

}}  // namespace c3::studies
