#include "importers/collective_times/error_score.hpp"

#include <cmath>

#include "base/statistics.hpp"

namespace c3 { inline namespace importers {
namespace {

constexpr double kNineInTen = 0.9;

}  // namespace

std::optional<ErrorScore> score_of(const std::vector<double>& errors) {
  if (errors.empty()) return std::nullopt;
  std::vector<double> absolute;
  for (const double error : errors)
    absolute.push_back(std::abs(error));
  return ErrorScore{.rows = errors.size(),
                    .median = median(absolute),
                    .p90 = quantile(absolute, kNineInTen),
                    .bias = median(errors)};
}

}}  // namespace c3::importers
