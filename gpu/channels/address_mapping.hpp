#pragma once
/// To which channel, bank and row of memory an address goes.

#include <cstdint>
#include <vector>

#include "gpu/spec.hpp"

namespace c3 { inline namespace gpu {

struct DramPlace {
  int channel = 0;
  int bank = 0;
  std::int64_t row = 0;  ///< of the bank

  bool operator==(const DramPlace&) const = default;
};

/// The mapping of a GPU's memory. A block is as many bytes as are in one channel together
/// (ChannelSpec::interleave); of C channels block n goes to
///  - consecutive: n mod C;
///  - xor: its lowest log2 C bits, XOR the next log2 C;
///  - ipoly: n as a polynomial over GF(2), modulo an irreducible one of degree log2 C (Rau, ISCA 1991): C
///  blocks
///    a power of two apart are in C channels;
///  - page_entropy: each of its lowest log2 C bits, XOR half of all bits above, drawn once (Liu et al., ISCA
///  2018);
///  - random: one that a hash of n draws.
/// Within a channel blocks follow one another, floor(n / C), through a row of a bank, then the next bank.
/// Source of the list: GPGPU-Sim (gpgpu-sim_distribution, addrdec.cc and hashing.cc), which calls these 0 to 4.
/// Wrong when: banks are permuted, too; a page is not where its address says.
class AddressMapping {
 public:
  /// \throws InfeasibleError when there are no channels, no bytes in a block or a row of less than a block, or
  /// the mapping needs a power of two of channels
  explicit AddressMapping(const ChannelSpec& spec);

  DramPlace place_of(std::int64_t address) const;
  const ChannelSpec& spec() const { return spec_; }

 private:
  int channel_of(std::uint64_t block) const;

  ChannelSpec spec_;
  std::uint64_t block_bytes_ = 0;
  std::int64_t blocks_in_row_ = 0;
  int bits_ = 0;                      ///< log2 of the channels, where that is whole
  std::vector<std::uint64_t> masks_;  ///< of ipoly and page_entropy: by bit of the channel, which bits it is
                                      ///< the parity of
};

}}  // namespace c3::gpu
