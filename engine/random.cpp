#include "engine/random.hpp"

#include <Random123/philox.h>

#include <cmath>
#include <numbers>

namespace c3 {
namespace {

// Philox4x32-10 (Salmon et al., SC'11). Half a unit keeps the result off 0 and 1.
struct Pair {
  double first, second;
};

Pair draw(std::uint64_t seed, std::uint64_t stream, std::uint64_t index, std::uint32_t attempt) {
  const auto low = [](std::uint64_t v) { return static_cast<std::uint32_t>(v); };
  const auto high = [](std::uint64_t v) { return static_cast<std::uint32_t>(v >> 32U); };
  const r123::Philox4x32::ctr_type counter = {
      {low(index), high(index) ^ (attempt << 16U), low(stream), high(stream)}};
  const r123::Philox4x32::key_type key = {{low(seed), high(seed)}};
  const r123::Philox4x32::ctr_type bits = r123::Philox4x32()(counter, key);
  const auto unit = [](std::uint32_t a, std::uint32_t b) {
    const std::uint64_t mantissa = ((std::uint64_t{a} << 32U) | b) >> 12U;
    return (static_cast<double>(mantissa) + 0.5) * 0x1p-52;
  };
  return {unit(bits[0], bits[1]), unit(bits[2], bits[3])};
}

}  // namespace

double RandomStream::uniform(std::uint64_t index) const { return draw(seed_, stream_, index, 0).first; }

double RandomStream::normal(std::uint64_t index) const {
  for (std::uint32_t attempt = 0;; ++attempt) {
    const Pair u = draw(seed_, stream_, index, attempt);
    const double value = std::sqrt(-2.0 * std::log(u.first)) * std::cos(2.0 * std::numbers::pi * u.second);
    if (std::abs(value) <= 3.0) return value;
  }
}

}  // namespace c3
