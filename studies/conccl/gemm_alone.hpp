#pragma once
/// GEMMs of LLaMA alone on a GPU of which CUs are taken away, in closed form.

#include <span>
#include <vector>

#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace studies {

/// 70B and 405B, the five projections of a layer, 4,096 to 16,384 tokens, bf16: arithmetic bounds them.
std::vector<GemmShape> compute_bound_gemms();

/// The up projection of 405B for 4,096 tokens.
GemmShape llama_405b_up();

/// By how many percent \p gemm takes longer without \p removed CUs.
double slowdown(const GemmShape& gemm, const GpuSpec& gpu, int removed);

/// Over \p gemms: at least one.
struct Slowdown {
  double mean = 0.0, least = 0.0, greatest = 0.0;  ///< percent
};
Slowdown slowdown(std::span<const GemmShape> gemms, const GpuSpec& gpu, int removed);

}}  // namespace c3::studies
