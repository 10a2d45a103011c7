#include "app/reproduce/kernels/unseen.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "configs/coefficient_file.hpp"

namespace c3 {
namespace {

constexpr std::size_t kFolds = 5;
constexpr std::size_t kRowsACoefficient = 2;  // fewer, and a fit says more of its rows than of the GPU

/// The variant of \p key that \p gpu takes: the most special one that \p table has.
std::string variant_for(const CoefficientTable& table, std::string_view key, const GpuSpec& gpu) {
  std::string taken;
  for (const std::string& variant : variants_of(key, gpu.family, gpu.hbm.technology)) {
    if (table.find(variant) != nullptr) taken = variant;
  }
  return taken;
}

CoefficientTable shipped_table(std::string_view kernel_class) {
  return load_coefficients(kernel_class, shipped_coefficients(kernel_class));
}

std::vector<GpuSpec> gpus_of(const MeasuredRows& table, std::span<const KernelSample> samples) {
  std::set<std::size_t> indices;
  for (const KernelSample& sample : samples)
    indices.insert(sample.gpu);
  std::vector<GpuSpec> gpus;
  for (const std::size_t gpu : indices)
    gpus.push_back(table.gpus()[gpu]);
  return gpus;
}

void write(const std::vector<Seconds>& times, const std::vector<std::size_t>& rows, Predictions& predictions) {
  for (std::size_t i = 0; i < rows.size(); ++i)
    predictions[rows[i]] = times[i];
}

}  // namespace

CoefficientTable start_without_others(const CoefficientTable& shipped, std::span<const GpuSpec> seen) {
  std::set<std::string> dropped;
  for (const CoefficientKey& key : coefficient_keys(shipped.kernel_class)) {
    if (!key.differs) continue;
    const std::string fallback = std::string(key.key) + "_default";
    std::set<std::string> taken;
    for (const GpuSpec& gpu : seen)
      taken.insert(variant_for(shipped, key.key, gpu));
    if (!taken.contains(fallback)) taken.clear();  // one value for all, which becomes the default
    for (const auto& [name, value] : shipped.values) {
      if (name.starts_with(std::string(key.key) + "_") && name != fallback && !taken.contains(name))
        dropped.insert(name);
    }
  }
  CoefficientTable start = shipped;
  std::erase_if(start.values, [&](const auto& entry) { return dropped.contains(entry.first); });
  return start;
}

KernelFitOptions study_fit() {
  KernelFitOptions options;
  options.most_rows = 400;
  return options;
}

void predict_from_others(const MeasuredRows& table, std::string_view kernel_class,
                         const std::vector<std::size_t>& fitted, const std::vector<std::size_t>& asked,
                         Predictions& predictions) {
  const std::vector<KernelSample> seen = table.samples(fitted);
  const CoefficientTable start = start_without_others(shipped_table(kernel_class), gpus_of(table, seen));
  if (seen.size() < kRowsACoefficient * start.values.size()) return;
  const KernelFit fit = fit_kernels(seen, table.gpus(), start, study_fit());
  write(predict_kernels(table.samples(asked), table.gpus(), fit.table), asked, predictions);
}

void predict_across_shapes(const MeasuredRows& table, std::string_view kernel_class,
                           const std::vector<std::size_t>& rows, Predictions& predictions) {
  const std::vector<KernelSample> samples = table.samples(rows);
  const CoefficientTable start = start_without_others(shipped_table(kernel_class), gpus_of(table, samples));
  // All folds but one must be enough.
  if (samples.size() * (kFolds - 1) < kRowsACoefficient * start.values.size() * kFolds) return;
  write(predict_unseen_shapes(samples, table.gpus(), start, kFolds, study_fit()), rows, predictions);
}

}  // namespace c3
