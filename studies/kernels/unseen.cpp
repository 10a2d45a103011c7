#include "studies/kernels/unseen.hpp"

#include "configs/presets/coefficient_file.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::size_t kFolds = 5;
constexpr std::size_t kRowsACoefficient = 2;  // fewer, and a fit says more of its rows than of the GPU

CoefficientTable shipped_table(std::string_view kernel_class) {
  return load_coefficients(kernel_class, shipped_coefficients(kernel_class));
}

void write(const std::vector<Seconds>& times, const std::vector<std::size_t>& rows, Predictions& predictions) {
  for (std::size_t i = 0; i < rows.size(); ++i)
    predictions[rows[i]] = times[i];
}

}  // namespace

KernelFitOptions study_fit(std::string_view kernel_class) {
  KernelFitOptions options;
  options.most_rows = kMostRows;
  options.hold = unfitted_coefficients(kernel_class, shipped_coefficients(kernel_class));
  return options;
}

void predict_from_others(const MeasuredRows& table, std::string_view kernel_class,
                         const std::vector<std::size_t>& fitted, const std::vector<std::size_t>& asked,
                         Predictions& predictions) {
  const std::vector<KernelSample> seen = table.samples(fitted);
  const CoefficientTable start = shipped_table(kernel_class);
  if (seen.size() < kRowsACoefficient * start.values.size()) return;
  write(predict_from(seen, table.samples(asked), table.gpus(), start, study_fit(kernel_class)), asked,
        predictions);
}

void predict_across_shapes(const MeasuredRows& table, std::string_view kernel_class,
                           const std::vector<std::size_t>& rows, Predictions& predictions) {
  const CoefficientTable start = shipped_table(kernel_class);
  // All folds but one must be enough.
  if (rows.size() * (kFolds - 1) < kRowsACoefficient * start.values.size() * kFolds) return;
  write(predict_unseen_shapes(table.samples(rows), table.gpus(), start, kFolds, study_fit(kernel_class)), rows,
        predictions);
}

}}  // namespace c3::studies
