#pragma once
/// Coefficients as they are written: one class's keys with their values, shares by family or memory technology.

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gpu/kernels/coefficients.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace gpu {

inline constexpr std::array<std::string_view, 6> kKernelClasses = {"vector_gemm", "matrix_gemm", "vector",
                                                                   "attention",   "convolution", "scan"};

/// The keys of one class as configs/kernels/CLASS.toml has them. A coefficient that differs is written as
/// `share_default` and `share_ampere`, for a family, or `memory_share_gddr6`, for a memory technology.
struct CoefficientTable {
  std::string kernel_class;  ///< one of kKernelClasses
  std::vector<std::pair<std::string, double>> values;

  const double* find(std::string_view key) const;  ///< nullptr when absent
};

/// What a class's files may hold: a field for each key, or, for a coefficient that differs, for all its keys.
struct CoefficientKey {
  std::string_view key;
  double low;
  double high;
  std::string_view meaning;
  bool differs;  ///< by family or memory technology
};
/// \throws std::invalid_argument for an unknown class, naming the known ones.
std::vector<CoefficientKey> coefficient_keys(std::string_view kernel_class);

/// The names that a coefficient that differs is asked for with, the most general first: "default", the memory
/// technology, the family.
std::vector<std::string> variants_of(std::string_view key, std::string_view family,
                                     std::string_view technology);

/// The class of \p table in \p coefficients as \p table has it for this family and memory; keys that it lacks
/// stay.
void apply(const CoefficientTable& table, std::string_view family, std::string_view technology,
           KernelCoefficients& coefficients);

/// The factor of all times but launches that \p coefficients have for a class.
/// \throws std::invalid_argument for an unknown class, naming the known ones.
double scale_of(std::string_view kernel_class, const KernelCoefficients& coefficients);

/// Gives \p gpu these coefficients, and the rates that its preset leaves to them (GpuSpec::from_shares).
void set_coefficients(GpuSpec& gpu, const KernelCoefficients& coefficients);

}}  // namespace c3::gpu
