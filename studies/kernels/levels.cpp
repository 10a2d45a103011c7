#include "studies/kernels/levels.hpp"

#include <algorithm>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "base/percent.hpp"
#include "base/statistics.hpp"
#include "studies/comparison.hpp"
#include "studies/kernels/taken_rows.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::size_t kResamples = 400;

using Statistic = std::function<double(const std::vector<std::size_t>& rows)>;

/// \p statistic of all \p rows, and what it is of as many drawn with replacement.
StudyLine line_of(PublishedFigure reference, std::string label, std::size_t rows, const Statistic& statistic) {
  StudyLine line{.figure = {.reference = std::move(reference), .kind = FigureKind::fitted},
                 .label = std::move(label),
                 .rows = rows};
  if (rows == 0) return line;
  std::vector<std::size_t> drawn(rows);
  for (std::size_t i = 0; i < rows; ++i)
    drawn[i] = i;
  line.figure.simulated = statistic(drawn);
  std::mt19937_64 random(1);
  std::vector<double> found;
  for (std::size_t i = 0; i < kResamples; ++i) {
    for (std::size_t& row : drawn)
      row = random() % rows;
    found.push_back(statistic(drawn));
  }
  std::ranges::sort(found);
  line.figure.p5 = found[kResamples / 20];
  line.figure.p95 = found[kResamples - 1 - kResamples / 20];
  return line;
}

}  // namespace

StudyLine mean_error(PublishedFigure reference, std::string label, std::span<const TakenRow> rows,
                     const TakenFilter& filter) {
  Comparison comparison;
  for (const TakenRow& row : rows)
    if (filter(row)) comparison.add({row.measured, row.predicted, block_of(row.shape)}, {});
  return comparison.line(std::move(reference), FigureKind::fitted, std::move(label));
}

StudyLine signed_error(PublishedFigure reference, std::string label, std::span<const TakenRow> rows,
                       const TakenFilter& filter) {
  std::vector<double> errors;
  for (const TakenRow& row : rows)
    if (filter(row)) errors.push_back(row.predicted / row.measured - 1.0);
  return line_of(std::move(reference), std::move(label), errors.size(),
                 [&](const std::vector<std::size_t>& drawn) {
                   double sum = 0;
                   for (const std::size_t row : drawn)
                     sum += errors[row];
                   return kPercent * sum / static_cast<double>(drawn.size());
                 });
}

StudyLine median_against(PublishedFigure reference, std::string label, const Medians& medians, bool relative) {
  return line_of(std::move(reference), std::move(label), medians.here.size(),
                 [&](const std::vector<std::size_t>& rows) {
                   std::vector<double> here, measured;
                   for (const std::size_t row : rows) {
                     here.push_back(medians.here[row]);
                     measured.push_back(medians.measured[row]);
                   }
                   const double middle = median(std::move(measured));
                   const double above = median(std::move(here)) - middle;
                   return kPercent * (relative ? above / middle : above);
                 });
}

}}  // namespace c3::studies
