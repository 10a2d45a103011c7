#pragma once
/// How wide the loads of a product can be.

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "gpu/kernels/gemm/gemm_shape.hpp"

namespace c3 { inline namespace gpu {

/// Bytes that one load instruction can move of rows that begin every \p pitch elements: a vector load needs
/// rows of whole 16 B.
inline double load_width(std::int64_t pitch, double element) {
  const auto bytes = static_cast<std::int64_t>(static_cast<double>(pitch) * element);
  return static_cast<double>(std::gcd(bytes, std::int64_t{16}));
}

/// Of 16 B, what loads and stores of \p shape move at a time. Which operand has which pitch follows from the
/// layout; a kernel for the narrowest serves all of them.
inline double narrowest_share(const GemmShape& shape, double element) {
  const std::int64_t a_pitch = shape.layout == GemmLayout::nt ? shape.m : shape.k;
  const std::int64_t b_pitch = shape.layout == GemmLayout::tn ? shape.k : shape.n;
  return std::min({load_width(a_pitch, element), load_width(b_pitch, element), load_width(shape.n, element)}) /
         16.0;
}

}}  // namespace c3::gpu
