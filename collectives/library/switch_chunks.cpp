#include "collectives/library/switch_chunks.hpp"

#include <algorithm>
#include <limits>

namespace c3 { inline namespace collectives {
namespace {

constexpr double kKiB = 1024.0;
constexpr int kMostHeads = 32;
constexpr int kBlackwellChannels = 32;  // over several NVLink domains

bool is_tuned_blackwell(const PublishedFigures& figures) {
  return figures.nodes > 1 && figures.cluster.gpu.family.tuned_as == TunedGpu::blackwell;
}

/// What ncclNvlsTreeSm100Tuning (transport/nvls.cc, 2.30.7) sets; chunk 0: nothing.
struct NvlsTuning {
  int channels = kBlackwellChannels;
  int chunk_kib = 0;
};

NvlsTuning tuning_of(const PublishedFigures& figures) {
  const double gpus = figures.ranks_per_node();
  const double nic = figures.cluster.fabric->nic.raw.value / 1e9;
  if (figures.nodes == 2 && nic >= 48.0) {
    if (gpus <= 4) return {32, 256};
    return {32, gpus >= 16 || (gpus <= 8 && nic < 96.0) ? 64 : 128};
  }
  if (nic >= 96.0) {
    if (gpus <= 8) return {24, 256};
    return {32, gpus < 32 ? 128 : 64};
  }
  return nic >= 48.0 ? NvlsTuning{24, 64} : NvlsTuning{};
}

}  // namespace

Bytes nvls_chunk(Bytes bytes, int channels, int heads) {
  double chunk = 128 * kKiB;
  const auto passes = [&] { return bytes.value / (channels * heads * chunk); };
  if (passes() < 64.0) chunk = 64 * kKiB;
  if (passes() < 8.0) chunk = 32 * kKiB;
  if (passes() < 2.0) chunk = 16 * kKiB;
  return Bytes{chunk};
}

int nvls_channels(const PublishedFigures& figures) {
  if (!is_tuned_blackwell(figures)) return figures.library.nvls_channels;
  if (!figures.since(30)) return kBlackwellChannels;
  return tuning_of(figures).channels;
}

Bytes largest_nvls_tree_chunk(const PublishedFigures& figures) {
  const double usual = (figures.nodes > 3 ? 64 : 128) * kKiB;
  if (!is_tuned_blackwell(figures) || !figures.since(30)) return Bytes{usual};
  const double tuned = tuning_of(figures).chunk_kib * kKiB;
  return Bytes{tuned > 0.0 ? tuned : usual};
}

Bytes nvls_tree_chunk(Bytes bytes, int channels, int heads, Bytes largest) {
  double chunk = largest.value;
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

}}  // namespace c3::collectives
