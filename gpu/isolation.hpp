#pragma once
/// Which resources every stream has a private copy of: the counterfactuals of the loss split, and isolated
/// runs.

#include <cstdint>

namespace c3 { inline namespace gpu {

/// The shared resources whose loss is told apart.
enum class SharedResource : std::uint8_t { dispatch, cus, cache, hbm, links };
inline constexpr int kSharedResources = 5;

/// A set of resources that are private to each stream; empty in a real run.
class Isolation {
 public:
  constexpr Isolation() = default;
  static constexpr Isolation from_bits(unsigned bits) {
    Isolation set;
    set.bits_ = bits;
    return set;
  }
  constexpr Isolation with(SharedResource r) const { return from_bits(bits_ | bit(r)); }
  constexpr bool has(SharedResource r) const { return (bits_ & bit(r)) != 0; }
  constexpr unsigned bits() const { return bits_; }

 private:
  static constexpr unsigned bit(SharedResource r) { return 1U << static_cast<unsigned>(r); }
  unsigned bits_ = 0;
};

}}  // namespace c3::gpu
