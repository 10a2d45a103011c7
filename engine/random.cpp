#include "engine/random.hpp"

#include <Random123/philox.h>

#include <cmath>
#include <numbers>

namespace c3 { inline namespace engine {
namespace {

struct Words {
  std::uint64_t first, second;
};

// Philox4x32-10 (Salmon et al., SC'11).
Words draw(std::uint64_t seed, std::uint64_t stream, std::uint64_t index, std::uint32_t attempt) {
  const auto low = [](std::uint64_t v) { return static_cast<std::uint32_t>(v); };
  const auto high = [](std::uint64_t v) { return static_cast<std::uint32_t>(v >> 32U); };
  const r123::Philox4x32::ctr_type counter = {
      {low(index), high(index) ^ (attempt << 16U), low(stream), high(stream)}};
  const r123::Philox4x32::key_type key = {{low(seed), high(seed)}};
  const r123::Philox4x32::ctr_type bits = r123::Philox4x32()(counter, key);
  const auto word = [](std::uint32_t a, std::uint32_t b) { return (std::uint64_t{a} << 32U) | b; };
  return {word(bits[0], bits[1]), word(bits[2], bits[3])};
}

// Half a unit keeps the result off 0 and 1.
double unit(std::uint64_t word) { return (static_cast<double>(word >> 12U) + 0.5) * 0x1p-52; }

}  // namespace

// Part of what makes a draw reproducible: another hash would change every draw of a named stream.
std::uint64_t stable_hash(std::string_view text, std::uint64_t before) {
  std::uint64_t hash = before;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 1099511628211ULL;
  }
  return hash;
}

RandomStream::RandomStream(std::uint64_t seed, std::string_view name) : RandomStream(seed, stable_hash(name)) {}

std::uint64_t RandomStream::bits(std::uint64_t index) const { return draw(seed_, stream_, index, 0).first; }

double RandomStream::uniform(std::uint64_t index) const { return unit(bits(index)); }

double RandomStream::normal(std::uint64_t index) const {
  for (std::uint32_t attempt = 0;; ++attempt) {
    const Words random = draw(seed_, stream_, index, attempt);
    const double radius = std::sqrt(-2.0 * std::log(unit(random.first)));
    const double value = radius * std::cos(2.0 * std::numbers::pi * unit(random.second));
    if (std::abs(value) <= 3.0) return value;
  }
}

}}  // namespace c3::engine
