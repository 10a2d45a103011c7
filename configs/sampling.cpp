#include "configs/sampling.hpp"

#include <Random123/philox.h>

#include <algorithm>
#include <cmath>

namespace c3 {
namespace {

/// FNV-1a, 64 bits. Part of what makes a draw reproducible: changing it changes every published draw.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 1099511628211ULL;
  }
  return hash;
}

std::uint32_t low_half(std::uint64_t word) { return static_cast<std::uint32_t>(word); }
std::uint32_t high_half(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32U); }

}  // namespace

double Sampling::uniform(std::string_view key) const {
  const std::uint64_t name = hash_of(key);
  const r123::Philox4x32::ctr_type counter = {
      {low_half(*draw_), high_half(*draw_), low_half(name), high_half(name)}};
  const r123::Philox4x32::key_type generator = {{low_half(seed_), high_half(seed_)}};
  const auto random = r123::Philox4x32()(counter, generator);
  const std::uint64_t bits = (std::uint64_t{random[0]} << 32U) | random[1];
  return static_cast<double>(bits >> 11U) * 0x1p-53;
}

double Sampling::sample(const Range& range, std::string_view key) const {
  if (!draw_ || range.low == range.high) return range.nominal;
  return std::clamp(std::lerp(range.low, range.high, uniform(key)), range.low, range.high);
}

std::int64_t Sampling::sample_integer(const Range& range, std::string_view key) const {
  if (!draw_ || range.low == range.high) return static_cast<std::int64_t>(range.nominal);
  const double values = range.high - range.low + 1;
  return static_cast<std::int64_t>(std::min(range.low + std::floor(uniform(key) * values), range.high));
}

}  // namespace c3
