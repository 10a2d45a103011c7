#include "gpu/channels/address_mapping.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>

#include "engine/errors.hpp"

namespace c3 { inline namespace gpu {
namespace {

/// Irreducible polynomials over GF(2) of degree 1 to 9; bit i is the coefficient of x^i.
constexpr std::array<std::uint64_t, 10> kIrreducible = {1,    0b11, 0b111, 0b1011, 0x13,
                                                        0x25, 0x43, 0x83,  0x11b,  0x211};

/// splitmix64 (Steele, Lea and Flood, OOPSLA 2014).
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31U);
}

/// By bit of the remainder modulo a polynomial of degree \p bits: the bits of which it is the parity.
std::vector<std::uint64_t> remainder_masks(int bits) {
  std::vector<std::uint64_t> masks(static_cast<std::size_t>(bits), 0);
  std::uint64_t power = 1;  // x^i modulo the polynomial
  for (unsigned i = 0; i < 64; ++i) {
    for (std::size_t bit = 0; bit < masks.size(); ++bit)
      if ((power >> bit & 1U) != 0) masks[bit] |= std::uint64_t{1} << i;
    power <<= 1U;
    if ((power >> static_cast<unsigned>(bits) & 1U) != 0)
      power ^= kIrreducible.at(static_cast<std::size_t>(bits));
  }
  return masks;
}

std::vector<std::uint64_t> entropy_masks(int bits) {
  std::vector<std::uint64_t> masks;
  for (int bit = 0; bit < bits; ++bit) {
    const std::uint64_t above = mixed(static_cast<std::uint64_t>(bit)) << static_cast<unsigned>(bits);
    masks.push_back(above | std::uint64_t{1} << static_cast<unsigned>(bit));
  }
  return masks;
}

}  // namespace

AddressMapping::AddressMapping(const ChannelSpec& spec)
    : spec_(spec), block_bytes_(static_cast<std::uint64_t>(spec.interleave.value)) {
  if (spec.count < 1) throw InfeasibleError("memory of channels requires gpu.channels, which is 0");
  if (block_bytes_ < 1) throw InfeasibleError("gpu.channel_interleave must be a byte at least");
  blocks_in_row_ = static_cast<std::int64_t>(spec.row / spec.interleave);
  if (blocks_in_row_ < 1) throw InfeasibleError("gpu.channel_row must not be below gpu.channel_interleave");
  const auto count = static_cast<unsigned>(spec.count);
  bits_ = std::bit_width(count) - 1;
  const bool divides = spec.mapping == ChannelMapping::consecutive || spec.mapping == ChannelMapping::random;
  if (!divides && !std::has_single_bit(count))
    throw InfeasibleError(fmt::format("gpu.channel_mapping \"{}\" requires a power of two of channels, not {}",
                                      name_of(spec.mapping), spec.count));
  if (spec.mapping == ChannelMapping::ipoly) masks_ = remainder_masks(bits_);
  if (spec.mapping == ChannelMapping::page_entropy) masks_ = entropy_masks(bits_);
}

int AddressMapping::channel_of(std::uint64_t block) const {
  const auto count = static_cast<std::uint64_t>(spec_.count);
  switch (spec_.mapping) {
    case ChannelMapping::consecutive:
      return static_cast<int>(block % count);
    case ChannelMapping::exclusive_or:
      return static_cast<int>((block ^ block >> static_cast<unsigned>(bits_)) % count);
    case ChannelMapping::ipoly:
    case ChannelMapping::page_entropy: {
      int channel = 0;
      for (std::size_t bit = 0; bit < masks_.size(); ++bit)
        channel |= std::popcount(block & masks_[bit]) % 2 << static_cast<int>(bit);
      return channel;
    }
    case ChannelMapping::random:
      return static_cast<int>(mixed(block) % count);
  }
  return 0;
}

DramPlace AddressMapping::place_of(std::int64_t address) const {
  const std::uint64_t block = static_cast<std::uint64_t>(address) / block_bytes_;
  const auto in_channel = static_cast<std::int64_t>(block / static_cast<std::uint64_t>(spec_.count));
  const std::int64_t row = in_channel / blocks_in_row_;
  return {.channel = channel_of(block), .bank = static_cast<int>(row % spec_.banks), .row = row / spec_.banks};
}

}}  // namespace c3::gpu
