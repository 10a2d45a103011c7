// Their curve at given sizes, and our lookups beside their formula.

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "base/statistics.hpp"
#include "configs/presets/preset_store.hpp"
#include "gpu/kernel_time.hpp"
#include "gpu/kernels/embedding/embedding_kernel.hpp"
#include "studies/dlrm/parts.hpp"
#include "studies/dlrm/published_model.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr double kPercent = 100.0;
constexpr double kMicro = 1e6;
constexpr double kThousand = 1e3;

/// A GPU that both have: our preset, and what they measured of it.
struct SharedGpu {
  std::string_view preset, label;
  BytesPerSecond dram, l2;
};
constexpr std::array<SharedGpu, 2> kGpus = {{{"v100-sxm2-16gb", "V100", {816.95e9}, {2847.5e9}},
                                             {"a100-sxm-40gb", "A100 40 GB", {1391.1e9}, {2270.9e9}}}};

/// Ours over theirs, less 1.
struct Differences {
  std::vector<double> ours = {};       ///< with the preset's rates
  std::vector<double> at_theirs = {};  ///< with the rates of memory and L2 that they measured

  void add(const Differences& more) {
    ours.insert(ours.end(), more.ours.begin(), more.ours.end());
    at_theirs.insert(at_theirs.end(), more.at_theirs.begin(), more.at_theirs.end());
  }
};

GpuSpec with_rates(GpuSpec gpu, const LookupRates& rates) {
  gpu.hbm.read = gpu.hbm.write = gpu.hbm.copy = rates.dram;
  gpu.cache.l2_bandwidth = rates.l2 / static_cast<double>(gpu.compute.xcds);
  return gpu;
}

double difference(const EmbeddingShape& shape, const GpuSpec& gpu, Seconds theirs) {
  const KernelTime ours =
      time_alone(describe_embedding("lookups", shape, gpu), gpu, {.launch = LaunchCost::device});
  return (ours.time - ours.launch) / theirs - 1.0;
}

/// Of 8 tables; those of less than 20 us, in which launches and latencies count, are left out.
Differences differences(const SharedGpu& shared, Pass pass, std::int64_t cols) {
  const GpuSpec gpu = load_gpu(std::string(shared.preset));
  const LookupRates rates{shared.dram, shared.l2, gpu.cache.l2_size, gpu.compute.cus()};
  const GpuSpec at_theirs = with_rates(gpu, rates);
  Differences found;
  for (const std::int64_t rows : {10'000, 100'000, 1'000'000}) {
    for (const std::int64_t lookups : {10, 38, 100}) {
      for (const std::int64_t bags : {512, 2048}) {
        const EmbeddingShape shape{.bags = bags,
                                   .tables = 8,
                                   .rows = rows,
                                   .cols = cols,
                                   .lookups = lookups,
                                   .pass = pass,
                                   .update = RowUpdate::sgd};
        const Seconds theirs = published_lookup_time(shape, rates);
        if (theirs.value < 20e-6) continue;
        found.ours.push_back(difference(shape, gpu, theirs));
        found.at_theirs.push_back(difference(shape, at_theirs, theirs));
      }
    }
  }
  return found;
}

double mean_size(const std::vector<double>& of) {
  double sum = 0.0;
  for (const double each : of)
    sum += std::abs(each);
  return sum / static_cast<double>(of.size());
}

StudyLine line_of(const PublishedFigures& published, const std::string& id, std::string label,
                  const Differences& of) {
  StudyLine line{.figure = {.of = published.find(id), .simulated = kPercent * mean_size(of.ours)},
                 .label = std::move(label),
                 .rows = of.ours.size()};
  line.beside = {{"signed [%]", kPercent * mean(of.ours)},
                 {"at their rates [%]", kPercent * mean_size(of.at_theirs)}};
  return line;
}

}  // namespace

StudySection curve_section(const PublishedFigures& published) {
  StudySection section{.heading = "Their curve of moved bytes, with their constants",
                       .lines = {},
                       .notes = {"A formula computed twice, not a prediction of ours: DRAM, 4 KiB to 2 GiB."},
                       .decimals = 3};
  for (const MovementCurve& curve : movement_curves()) {
    for (const int power : {12, 17, 20, 24, 31}) {
      const double time = curve.time(Bytes{std::exp2(power)}).value * kMicro;
      section.lines.push_back({.figure = {.of = published.find(fmt::format("curve.{}.{}", curve.gpu, power)),
                                          .kind = FigureKind::input,
                                          .simulated = std::round(time * kThousand) / kThousand},
                               .label = fmt::format("{}, 2^{} bytes", curve.gpu, power),
                               .rows = 1});
    }
  }
  return section;
}

StudySection lookup_section(const PublishedFigures& published) {
  StudySection section{
      .heading = "Embedding bags: our kernels beside their formula, mean difference",
      .lines = {},
      .notes = {"8 tables of 10 k to 1 M rows, 10 to 100 lookups, 512 and 2,048 bags; above 20 us. Ours "
                "take the caches' and HBM's rates of the presets, theirs what they measured; that narrow "
                "rows reach less of HBM's rate is their number in both."}};
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    Differences all;
    std::vector<StudyLine> details;
    for (const SharedGpu& gpu : kGpus) {
      for (const std::int64_t cols : {32, 64, 128}) {
        const Differences some = differences(gpu, pass, cols);
        all.add(some);
        const std::string id = fmt::format("lookup.{}.{}.{}", name_of(pass), gpu.preset, cols);
        details.push_back(line_of(published, id, fmt::format("  {}, rows of {}", gpu.label, cols), some));
      }
    }
    section.lines.push_back(
        line_of(published, fmt::format("lookup.{}", name_of(pass)), std::string(name_of(pass)), all));
    for (StudyLine& line : details)
      section.lines.push_back(std::move(line));
  }
  return section;
}

}}  // namespace c3::studies
