#include "studies/collectives/scores.hpp"

#include <algorithm>
#include <cmath>

#include "gpu/calibration/error_statistics.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr double kPercent = 100.0;
constexpr double kMedian = 0.5;
constexpr double kNineInTen = 0.9;

bool is_large(const PredictedCollective& row) { return row.measured.bytes >= kLargeFrom; }

}  // namespace

std::optional<ErrorScore> score_of(const std::vector<double>& errors) {
  if (errors.empty()) return std::nullopt;
  std::vector<double> absolute;
  for (const double error : errors)
    absolute.push_back(std::abs(error));
  return ErrorScore{.rows = errors.size(),
                    .median = quantile(absolute, kMedian),
                    .p90 = quantile(absolute, kNineInTen),
                    .bias = quantile(errors, kMedian)};
}

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
  middle.median = quantile(medians, kMedian);
  middle.p90 = quantile(p90s, kMedian);
  middle.bias = quantile(biases, kMedian);
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
