#include "gpu/kernels/embedding/row_reuse.hpp"

#include <algorithm>
#include <cmath>

namespace c3 { inline namespace gpu {
namespace {

/// Mean of the whole numbers of a bin: 1, 2, 3 to 4, 5 to 8, ..
double uses_in(std::size_t bin) {
  if (bin < 2) return static_cast<double>(bin + 1);
  return 0.75 * std::exp2(static_cast<double>(bin)) + 0.5;
}

}  // namespace

const ReuseHistogram& histogram_of_2021() {
  static constexpr ReuseHistogram kMean = {.lookups = {.056, .043, .075, .099, .112, .091, .064, .052, .049,
                                                       .050, .054, .058, .061, .052, .038, .026, .020},
                                           .recorded = 468.2e6 / 856.0};
  return kMean;
}

RowReuse::RowReuse(std::int64_t rows) : rows_(static_cast<double>(rows)) {}

RowReuse::RowReuse(const ReuseHistogram& histogram, std::int64_t rows)
    : rows_(static_cast<double>(rows)), recorded_(histogram.recorded) {
  double touched = 0;
  double shares = 0;
  for (const double share : histogram.lookups)
    shares += share;
  for (std::size_t i = 0; i < bins_.size(); ++i) {
    const double uses = uses_in(i);
    bins_.at(i) = {.rows = histogram.lookups.at(i) / shares * recorded_ / uses, .uses = uses};
    touched += bins_.at(i).rows;
  }
  const double fewer = std::min(1.0, rows_ / touched);
  for (Bin& bin : bins_) {
    bin.rows *= fewer;
    bin.uses /= fewer;
  }
}

double RowReuse::distinct(double lookups) const {
  if (recorded_ <= 0.0)
    return rows_ <= 1.0 ? std::min(1.0, lookups) : -rows_ * std::expm1(lookups * std::log1p(-1.0 / rows_));
  const double part = std::min(1.0, lookups / recorded_);
  double touched = 0;
  for (const Bin& bin : bins_)
    touched += bin.rows * (1.0 - std::pow(1.0 - part, bin.uses));
  return touched;
}

double RowReuse::distinct_beyond(double hottest, double lookups) const {
  if (recorded_ <= 0.0) return distinct(lookups) * std::max(0.0, 1.0 - hottest / rows_);
  const double part = std::min(1.0, lookups / recorded_);
  double touched = 0;
  for (auto bin = bins_.rbegin(); bin != bins_.rend(); ++bin) {  // most often used first
    const double held = std::min(hottest, bin->rows);
    hottest -= held;
    touched += (bin->rows - held) * (1.0 - std::pow(1.0 - part, bin->uses));
  }
  return touched;
}

double RowReuse::growth(double lookups) const {
  if (recorded_ <= 0.0) return rows_ <= 1.0 ? 0.0 : std::exp(lookups * std::log1p(-1.0 / rows_));
  const double part = std::min(1.0, lookups / recorded_);
  double slope = 0;
  for (const Bin& bin : bins_)
    slope += bin.rows * bin.uses * std::pow(1.0 - part, bin.uses - 1.0);
  return std::min(1.0, slope / recorded_);
}

double RowReuse::misses(double lookups, Bytes capacity, Bytes row, Bytes streamed) const {
  const auto held = [&](double n) { return row * distinct(n) + streamed * n; };
  if (held(lookups) <= capacity) return std::min(lookups, distinct(lookups));
  double low = 0;
  double high = lookups;
  for (int i = 0; i < 40; ++i) {
    const double middle = 0.5 * (low + high);
    (held(middle) <= capacity ? low : high) = middle;
  }
  return std::min(lookups, distinct(low) + (lookups - low) * growth(low));
}

}}  // namespace c3::gpu
