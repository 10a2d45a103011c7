#include "gpu/kernels/coefficient_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "gpu/kernels/gemm/gemm_plan.hpp"

namespace c3 { inline namespace gpu {
namespace {

/// Keys with a value for each family, or memory technology, that was measured.
constexpr std::array<std::string_view, 18> kDiffering = {
    "share",      "flash2_share",   "backward_share", "memory_share",  "hbm_share", "scale_ops",
    "operand",    "prologue_k",     "step_cycles",    "launch_cycles", "exp_share", "mx_ops",
    "cudnn_rate", "implicit_share", "winograd_share", "direct_share",  "kernel_us", "absmax_ops"};

bool differs(std::string_view key) { return std::ranges::find(kDiffering, key) != kDiffering.end(); }

/// The rates of \p rate that its preset leaves to the share \p share of its peak.
void derive(MatrixRate& rate, double share, const GpuSpec& gpu) {
  // Near the power limit the clock falls until what is left keeps the issue slots 90 % full.
  constexpr double kIssued = 0.9;
  const bool has_own_clock = !rate.from_share && rate.clock.value > 0.0;
  if (has_own_clock) return;
  if (rate.from_share) {
    rate.sustained = rate.peak * std::min(1.0, share / least_operand_loss(rate.dtype, gpu));
  }
  rate.clock = gpu.compute.boost_clock * std::min(1.0, rate.sustained / rate.peak / kIssued);
}

/// Calls \p visit(fields, set) with the fields of the class and its set in \p coefficients.
template <class Coefficients, class Visit>
void visit_class(std::string_view kernel_class, Coefficients& coefficients, Visit visit) {
  if (kernel_class == "vector_gemm") return visit(kGemmFields, coefficients.vector_gemm);
  if (kernel_class == "matrix_gemm") return visit(kGemmFields, coefficients.matrix_gemm);
  if (kernel_class == "vector") return visit(kVectorFields, coefficients.vector);
  if (kernel_class == "attention") return visit(kAttentionFields, coefficients.attention);
  if (kernel_class == "convolution") return visit(kConvolutionFields, coefficients.convolution);
  if (kernel_class == "scan") return visit(kScanFields, coefficients.scan);
  throw std::invalid_argument(
      fmt::format("unknown kernel class '{}'; known: {}", kernel_class, fmt::join(kKernelClasses, ", ")));
}

}  // namespace

const double* CoefficientTable::find(std::string_view key) const {
  const auto found =
      std::ranges::find(values, key, [](const auto& entry) { return std::string_view(entry.first); });
  return found == values.end() ? nullptr : &found->second;
}

std::vector<CoefficientKey> coefficient_keys(std::string_view kernel_class) {
  std::vector<CoefficientKey> keys;
  const KernelCoefficients any;
  visit_class(kernel_class, any, [&](const auto& fields, const auto&) {
    for (const auto& field : fields)
      keys.push_back({field.key, field.low, field.high, field.meaning, differs(field.key)});
  });
  return keys;
}

std::vector<std::string> variants_of(std::string_view key, std::string_view family,
                                     std::string_view technology) {
  std::vector<std::string> names = {fmt::format("{}_default", key)};
  if (key == "memory_share" || key == "hbm_share") names.push_back(fmt::format("{}_{}", key, technology));
  names.push_back(fmt::format("{}_{}", key, family));
  return names;
}

void apply(const CoefficientTable& table, std::string_view family, std::string_view technology,
           KernelCoefficients& coefficients) {
  visit_class(table.kernel_class, coefficients, [&](const auto& fields, auto& set) {
    for (const auto& field : fields) {
      if (!differs(field.key)) {
        if (const double* value = table.find(field.key)) set.*field.member = *value;
        continue;
      }
      for (const std::string& variant : variants_of(field.key, family, technology)) {
        if (const double* value = table.find(variant)) set.*field.member = *value;
      }
    }
  });
}

double scale_of(std::string_view kernel_class, const KernelCoefficients& coefficients) {
  double scale = 1.0;
  visit_class(kernel_class, coefficients, [&](const auto&, const auto& set) { scale = set.scale; });
  return scale;
}

void set_coefficients(GpuSpec& gpu, const KernelCoefficients& coefficients) {
  gpu.kernels = coefficients;
  if (gpu.hbm.from_share) {
    gpu.hbm.read = gpu.hbm.write = gpu.hbm.copy = gpu.hbm.peak * coefficients.vector.memory_share;
  }
  const GemmCoefficients& matrix = coefficients.matrix_gemm;
  for (MatrixRate& rate : gpu.compute.matrix) {
    const bool on_vectors = rate.dtype == DType::fp32;
    const double share = on_vectors ? coefficients.vector_gemm.share : matrix.share;
    const double narrow = rate.dtype == DType::fp8   ? matrix.fp8_share
                          : rate.dtype == DType::fp4 ? matrix.fp4_share
                                                     : 1.0;
    derive(rate, share * narrow, gpu);
  }
  if (gpu.compute.fp32_matrix.peak.value > 0.0) derive(gpu.compute.fp32_matrix, matrix.share, gpu);
}

}}  // namespace c3::gpu
