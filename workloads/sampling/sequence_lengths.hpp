#pragma once
/// How long the sequences of a job are, and how long that makes its iterations.

#include <cstdint>
#include <optional>
#include <vector>

#include "base/enum_names.hpp"

namespace c3 { inline namespace sampling {

/// How sequences come together in iterations.
enum class LengthBatches {
  padded,  ///< in the order in which they are drawn, all as long as the longest of their iteration
  sorted,  ///< the same of sequences by length, as a bucketing sampler deals them
  packed,  ///< joined and cut, so that every iteration is full
};
constexpr auto enum_names(LengthBatches) {
  return std::to_array<EnumName<LengthBatches>>({{"padded", LengthBatches::padded},
                                                 {"sorted", LengthBatches::sorted},
                                                 {"packed", LengthBatches::packed}});
}

/// Sequences of one length.
struct LengthCount {
  std::int64_t length = 0;  ///< tokens
  std::int64_t count = 1;

  bool operator==(const LengthCount&) const = default;
};

struct LogNormalLengths {
  double median = 0.0;     ///< tokens
  double deviation = 0.0;  ///< of the logarithm

  bool operator==(const LogNormalLengths&) const = default;
};

struct SequenceLengths {
  std::int64_t sequences = 0;                 ///< of an epoch
  std::vector<LengthCount> histogram = {};    ///< from which lengths are drawn; empty: from `lognormal`
  std::optional<LogNormalLengths> lognormal;  ///< cut at three deviations
  std::int64_t shortest = 1;                  ///< shorter ones are padded
  std::int64_t longest = 0;                   ///< longer ones are cut
  std::int64_t multiple = 1;                  ///< iterations are padded to a multiple of it
  LengthBatches batches = LengthBatches::padded;
  bool document_mask = false;  ///< packed: tokens see only their own sequence

  bool operator==(const SequenceLengths&) const = default;
};

/// Length of each sequence of an epoch: the same for the same \p seed.
std::vector<std::int64_t> draw_lengths(const SequenceLengths& job, std::uint64_t seed);

/// How many keys a query sees on average where sequences of \p lengths are joined and cut every \p full tokens,
/// and tokens see only the piece that they are in: those before them, too, or all of it.
double keys_of_query(const std::vector<std::int64_t>& lengths, std::int64_t full, bool is_causal);

/// Length of each iteration of an epoch of \p lengths, \p batch of which are an iteration. The last one may
/// have fewer, and counts as a whole one. \param full length of a packed sequence
std::vector<std::int64_t> iteration_lengths(const SequenceLengths& job, std::vector<std::int64_t> lengths,
                                            std::int64_t batch, std::int64_t full);

}}  // namespace c3::sampling
