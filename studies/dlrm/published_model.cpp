#include "studies/dlrm/published_model.hpp"

#include <algorithm>
#include <cmath>

namespace c3 { inline namespace studies {
namespace {

constexpr double kSector = 32.0;

double in_sectors(double bytes) { return std::ceil(bytes / kSector) * kSector; }

/// Of \p lookups of \p rows equally likely rows, of which \p kept are in the cache.
double hit_rate(double lookups, double rows, double kept) {
  const double distinct = rows * (1.0 - std::pow(1.0 - 1.0 / rows, lookups));
  if (distinct <= kept) return 1.0 - distinct / lookups;
  return 1.0 - (kept + (lookups - kept) * (rows - kept) / rows) / lookups;
}

}  // namespace

Seconds MovementCurve::time(Bytes bytes) const {
  const double x = std::log2(bytes.value);
  if (x <= last_short) return overhead;
  if (x > last_rising) return overhead + bytes / rate;
  const double exponent = L / (1.0 + std::exp(-k * (x - x0))) + b;
  return bytes / BytesPerSecond{std::pow(10.0, exponent) * 1e9};
}

const std::array<MovementCurve, 3>& movement_curves() {
  static constexpr std::array<MovementCurve, 3> kCurves = {{
      {"a100", {1391.1e9}, 14, 29, {6.450e-6}, 2.20956, 20.35203, 0.62529, 0.93243},
      {"v100", {816.95e9}, 16, 30, {4.833e-6}, 1.94723, 19.81699, 0.55556, 0.95524},
      {"gv100", {601.05e9}, 15, 28, {6.963e-6}, 2.56636, 18.54563, 0.41966, 0.27275},
  }};
  return kCurves;
}

Seconds published_lookup_time(const EmbeddingShape& shape, const LookupRates& rates) {
  constexpr double kWarps = 45.0;  // of an SM, FBGEMM
  const auto bags = static_cast<double>(shape.bags), rows = static_cast<double>(shape.rows);
  const auto lookups = static_cast<double>(shape.lookups), tables = static_cast<double>(shape.tables);
  const double row = 4.0 * static_cast<double>(shape.cols);
  const double in_flight = std::ceil(rates.sms * kWarps / bags);
  const double kept = std::min({0.9 * rates.l2_size.value / in_flight / row, rows, bags * lookups});
  const double hits = hit_rate(bags * lookups, rows, kept);
  const double passes = shape.pass == Pass::forward ? 1.0 : 2.0;
  const double weights = passes * lookups * in_sectors(row);
  const double streamed = 32 + 64 + in_sectors(4.0 * lookups) + in_sectors(row);
  const Seconds dram = Bytes{tables * bags * (streamed + (1.0 - hits) * weights)} / rates.dram;
  const Seconds l2 = Bytes{tables * bags * hits * weights} / rates.l2;
  const double narrow = shape.cols > 64 ? 1.0 : shape.cols > 32 ? 1.1 : 1.55;
  return std::max(dram, l2) * narrow;
}

}}  // namespace c3::studies
