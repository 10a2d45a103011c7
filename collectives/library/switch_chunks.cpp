#include "collectives/library/switch_chunks.hpp"

#include <algorithm>
#include <limits>

namespace c3::inline collectives {
namespace {

constexpr double kKiB = 1024.0;
constexpr int kMostHeads = 32;

}  // namespace

Bytes nvls_chunk(Bytes bytes, int channels, int heads) {
  double chunk = 128 * kKiB;
  const auto passes = [&] { return bytes.value / (channels * heads * chunk); };
  if (passes() < 64.0) chunk = 64 * kKiB;
  if (passes() < 8.0) chunk = 32 * kKiB;
  if (passes() < 2.0) chunk = 16 * kKiB;
  return Bytes{chunk};
}

Bytes largest_nvls_tree_chunk(int nodes) { return Bytes{(nodes > 3 ? 64 : 128) * kKiB}; }

Bytes nvls_tree_chunk(Bytes bytes, int channels, int heads, int nodes, Bytes set) {
  double chunk = set.value > 0.0 ? set.value : largest_nvls_tree_chunk(nodes).value;
  const auto passes = [&] { return bytes.value / (channels * heads * chunk); };
  if (passes() < 32.0 && chunk > 256 * kKiB) chunk = 256 * kKiB;
  if (passes() < 16.0 && chunk > 128 * kKiB) chunk = 128 * kKiB;
  if (passes() < 4.0 && chunk > 64 * kKiB) chunk = 64 * kKiB;
  if (passes() < 1.0 && chunk > 32 * kKiB) chunk = 32 * kKiB;
  return Bytes{chunk};
}

int heads_of(int gpus) { return std::min(gpus, kMostHeads); }

BytesPerSecond copying_in_switch(const ChannelContext& channels) {
  const BytesPerSecond rate = channels.library().nvls_channel_rate;
  if (rate.value <= 0.0) return BytesPerSecond{std::numeric_limits<double>::infinity()};
  return rate * static_cast<double>(channels.width);
}

}  // namespace c3::collectives
