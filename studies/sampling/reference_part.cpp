#include <array>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/random.hpp"
#include "studies/sampling/parts.hpp"

namespace c3 { inline namespace studies {
namespace {

/// Calls of a kernel on an RTX 2080, as published: ejchung0406/STEM-AE, figure1/runtime-example.csv.
struct ReferenceKernel {
  std::string_view name;
  std::size_t calls;
  double mean_ns;
  double variation;
};
constexpr std::array<ReferenceKernel, 6> kKernels{{{"max_pool", 3'925, 19'162, 0.007},
                                                   {"bn_fw_inf", 27'475, 6'454, 0.677},
                                                   {"unrolled_elementwise", 1'850, 2'310, 0.060},
                                                   {"elementwise_grid_stride", 920, 62'865, 0.051},
                                                   {"sgemm_128x64_nn", 11'775, 24'270, 0.357},
                                                   {"sgemm_64x64_nn", 39'272, 7'156, 0.055}}};

/// Two log-normals of equal weight, each a third as wide as the whole: means mu (1 - d) and mu (1 + d),
/// coefficient of variation s = c / 3, where d follows from that of the whole:
/// c^2 = s^2 (1 + d^2) + d^2.
void add_mixture(const ReferenceKernel& kernel, Invocations& invocations) {
  constexpr double kPart = 1.0 / 3.0;
  constexpr double kNanosecond = 1e-9;
  const double c = kernel.variation, s = kPart * c;
  const double d = std::sqrt((c * c - s * s) / (1.0 + s * s));
  const double sigma = std::sqrt(std::log1p(s * s));
  const RandomStream random(0, kernel.name);
  for (std::size_t i = 0; i < kernel.calls; ++i) {
    const double mean = kernel.mean_ns * (random.uniform(3 * i) < 0.5 ? 1.0 - d : 1.0 + d);
    const double normal = normal_of(random.uniform(3 * i + 1), random.uniform(3 * i + 2));  // tails matter
    invocations.add(kernel.name, Seconds{kNanosecond * mean * std::exp(sigma * normal - 0.5 * sigma * sigma)});
  }
}

Invocations reference_set() {
  Invocations invocations;
  for (const ReferenceKernel& kernel : kKernels)
    add_mixture(kernel, invocations);
  return invocations;
}

/// Clusters of each kernel, in the order of the table.
std::string counts_by_kernel(const SamplePlan& plan) {
  std::map<std::string, int> count;
  for (const PlannedCluster& cluster : plan.clusters)
    ++count[cluster.kernel];
  std::array<int, kKernels.size()> ordered{};
  for (std::size_t i = 0; i < kKernels.size(); ++i)
    ordered.at(i) = count[std::string(kKernels.at(i).name)];
  return fmt::format("{}", fmt::join(ordered, ", "));
}

}  // namespace

StudyReport reference_sections(const PublishedFigures& published) {
  StudySection section{
      .heading = "Six kernels as mixtures of two log-normals: seeds whose error is within the bound",
      .notes =
          {"85,217 calls of published count, mean and spread; two log-normals of equal weight, each a third "
           "as wide as the whole.",
           "Published of the recorded calls, clusters by kernel; samples; speedup: allegro 5 % 1, 3, 1, 1, 2, "
           "1; 270; 183.5. allegro 1 % 1, 3, 2, 2, 2, 2; 362; 124.1. stem 3 % 1, 4, 2, 3, 2, 2; 16; 2,316. "
           "stem 5 % 1, 3, 2, 2, 2, 2; 12; 3,792. stem 10 % 1, 3, 2, 1, 2, 1; 11; 5,209. stem 25 % 1, 3, 1, "
           "1, 2, 1; 9; 5,496."},
      .value = "within [%]",
      .decimals = 2};
  const Invocations invocations = reference_set();
  for (const auto& [method, bound] : {std::pair("allegro", 0.05),
                                      {"allegro", 0.01},
                                      {"stem", 0.03},
                                      {"stem", 0.05},
                                      {"stem", 0.10},
                                      {"stem", 0.25}}) {
    const MethodTrials trials = try_method(invocations, method, {.error = bound});
    section.lines.push_back(method_line(published, fmt::format("reference.{}.{:.0f}", method, 100.0 * bound),
                                        fmt::format("{} {:.0f} %", method, 100.0 * bound),
                                        100.0 * trials.errors.within_bound, trials));
    section.notes.push_back(fmt::format("Here, clusters by kernel: {} {:.0f} % {}.", method, 100.0 * bound,
                                        counts_by_kernel(trials.plan)));
  }
  return {section};
}

}}  // namespace c3::studies
