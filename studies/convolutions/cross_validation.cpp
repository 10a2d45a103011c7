#include "studies/convolutions/cross_validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "configs/presets/coefficient_file.hpp"
#include "gpu/calibration/cross_validation.hpp"
#include "gpu/kernels/convolution/solver.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::string_view kClass = "convolution";
constexpr std::size_t kFolds = 5;
constexpr std::size_t kFewestLayers = 20;
constexpr std::uint64_t kSeed = 1;

/// Few rows and steps, so that all fits take seconds: there are five coefficients.
KernelFitOptions study_fit() {
  KernelFitOptions options;
  options.most_rows = 600;
  options.fit.starts = 1;
  options.fit.iterations = 10;
  options.fit.seed = kSeed;
  return options;
}

/// The fastest solver of each convolution of \p rows, short ones among them: a fit to long ones only would take
/// what makes short ones long for what kernels cost.
std::vector<KernelSample> samples_of(const FindDb& db, const Rows& rows) {
  std::vector<KernelSample> samples;
  for (const std::size_t row : rows) {
    const FoundConvolution& found = db.convolutions[row];
    const auto fastest =
        std::ranges::min_element(found.by_solver, {}, [](const auto& entry) { return entry.second; });
    if (fastest == found.by_solver.end() || !can_run(fastest->first, found.shape)) continue;
    ConvolutionShape shape = found.shape;
    shape.solver = fastest->first;
    samples.push_back({.op = shape, .time = fastest->second});
  }
  return samples;
}

CoefficientTable fitted_to(const MeasuredGpu& gpu, const Rows& rows) {
  const CoefficientTable start = load_coefficients(kClass, shipped_coefficients(kClass));
  const std::vector<GpuSpec> gpus = {gpu.gpu};
  return fit_kernels(samples_of(gpu.db, rows), gpus, start, study_fit()).table;
}

GpuSpec with(const CoefficientTable& table, GpuSpec gpu) {
  KernelCoefficients all = gpu.kernels;
  apply(table, gpu.family.name, gpu.hbm.technology, all);
  set_coefficients(gpu, all);
  return gpu;
}

}  // namespace

CrossValidation::CrossValidation(const MeasuredGpu& gpu) : gpu_(gpu), times_(gpu.db.convolutions.size()) {}

void CrossValidation::plan(Jobs& jobs) {
  std::vector<std::uint64_t> layers;
  for (const FoundConvolution& found : gpu_.db.convolutions)
    layers.push_back(layer_of(found.shape));
  // Fewer, and a fit says more of them than of the GPU: its figures stay without a number.
  const std::set<std::uint64_t> distinct(layers.begin(), layers.end());
  if (distinct.size() < kFewestLayers) return;
  for (const Split& split : folds_by_key(layers, kFolds, kSeed)) {
    jobs.emplace_back([this, split] {
      SolverTimes found =
          times_on(with(fitted_to(gpu_, split.fitted), gpu_.gpu), gpu_.db.convolutions, split.held_out);
      for (const std::size_t row : split.held_out)
        times_[row] = std::move(found[row]);
    });
  }
  jobs.emplace_back([this] { whole_ = fitted_to(gpu_, every_row(gpu_.db.convolutions.size())); });
}

StudySection coefficients(const MeasuredGpu& gpu, const CoefficientTable& fitted,
                          const PublishedFigures& published) {
  StudySection section{.heading = fmt::format("{}: coefficients that were fitted to all layers", gpu.name),
                       .lines = {},
                       .notes = {},
                       .value = "here",
                       .decimals = 3};
  if (fitted.values.empty()) return section;  // nothing was fitted
  for (const CoefficientKey& key : coefficient_keys(fitted.kernel_class)) {
    const std::string name =
        key.differs ? fmt::format("{}_{}", key.key, gpu.gpu.family.name) : std::string(key.key);
    const double* value = fitted.find(name);
    if (value == nullptr || name == "scale") continue;
    section.lines.push_back(
        {.figure = {.reference = published.find(fmt::format("coefficient.{}.{}", gpu.words, key.key)),
                    .kind = FigureKind::fitted,
                    .simulated = *value},
         .label = name,
         .rows = gpu.db.convolutions.size()});
  }
  return section;
}

}}  // namespace c3::studies
