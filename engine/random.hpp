#pragma once
/// Counter-based random numbers: a draw depends on its key and position only, never on what was drawn
/// elsewhere, so that adding a model or an observer changes nobody else's numbers.

#include <cstdint>
#include <string_view>

namespace c3 { inline namespace engine {

/// Where stable_hash() begins.
inline constexpr std::uint64_t kEmptyHash = 14695981039346656037ULL;

/// A 64-bit hash of \p text (FNV-1a) that is the same on every machine and in every version.
/// \param before the hash of a text of which \p text is the continuation
std::uint64_t stable_hash(std::string_view text, std::uint64_t before = kEmptyHash);

/// A named sequence: the same (seed, stream, index) gives the same number on every machine.
class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::uint64_t stream) : seed_(seed), stream_(stream) {}
  /// The stream numbered by stable_hash() of \p name.
  RandomStream(std::uint64_t seed, std::string_view name);

  /// 64 random bits; the first 52 of them make uniform().
  std::uint64_t bits(std::uint64_t index) const;
  /// Uniform in (0, 1).
  double uniform(std::uint64_t index) const;
  /// Standard normal, cut at three standard deviations (redrawn, so it stays symmetric).
  double normal(std::uint64_t index) const;

 private:
  std::uint64_t seed_;
  std::uint64_t stream_;
};

}}  // namespace c3::engine
