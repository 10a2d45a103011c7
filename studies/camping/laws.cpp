// What strides and mappings leave of the bandwidth: the library against closed forms, and the solver against
// both.

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "configs/presets/preset_store.hpp"
#include "gpu/channels/channel_load.hpp"
#include "gpu/memory.hpp"
#include "studies/camping/sections.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::int64_t kBlock = 256;

double effective(int channels, ChannelMapping mapping, std::int64_t blocks, std::int64_t rows) {
  const AddressMapping addresses(
      {.count = channels, .interleave = Bytes{kBlock}, .row_cycle = {}, .mapping = mapping});
  ChannelLoad load(addresses);
  load.add({.start = 0, .extent = 32, .rows = rows, .stride = kBlock * blocks});
  return load.effective();
}

double consecutive_misses(std::size_t& pairs) {
  double misses = 0.0;
  for (const int channels : {12, 24, 32, 64, 128}) {
    for (std::int64_t blocks = 1; blocks <= 256; ++blocks, ++pairs) {
      const double law = 1.0 / static_cast<double>(std::gcd(blocks, std::int64_t{channels}));
      if (effective(channels, ChannelMapping::consecutive, blocks, 24 * channels) != law) ++misses;
    }
  }
  return misses;
}

// The channel's bits are those of a block's lowest b, XOR the next b: a stride of 2^k blocks leaves all of them
// for k <= b, 2b - k of them up to 2b, and then none.
double xor_misses(std::size_t& strides) {
  constexpr int kBits = 5;
  double misses = 0.0;
  for (int k = 0; k <= 3 * kBits; ++k, ++strides) {
    const int left = std::clamp(2 * kBits - k, 0, kBits);
    const double law = std::ldexp(1.0, left - kBits);
    if (effective(1 << kBits, ChannelMapping::exclusive_or, std::int64_t{1} << k, 1 << 2 * kBits) != law)
      ++misses;
  }
  return misses;
}

double least_of_ipoly(std::size_t& strides) {
  double least = 1.0;
  for (int bits = 1; bits <= 9; ++bits)
    for (int k = 0; k <= 30; ++k, ++strides)
      least = std::min(least, effective(1 << bits, ChannelMapping::ipoly, std::int64_t{1} << k, 1 << bits));
  return least;
}

/// Two tenants of a memory of 32 channels. The law is of the slower, which has a part in the fullest channel:
/// the other has what that leaves of its own channels.
double joint_difference(std::size_t& pairs) {
  GpuSpec gpu = load_gpu("mi100");
  gpu.hbm.write = gpu.hbm.copy = gpu.hbm.read;
  gpu.hbm.channels = {.count = 32, .row_cycle = {}, .mapping = ChannelMapping::consecutive};
  gpu.simulation.memory_grain = MemoryGrain::channels;
  const AddressMapping mapping(gpu.hbm.channels);
  double most = 0.0;
  for (const std::int64_t first : {1, 4, 32}) {
    for (const std::int64_t second : {2, 8, 16, 32, 33}) {
      for (const std::int64_t apart : {0, 1, 5}) {
        FluidSystem fluid;
        Memory memory(fluid, gpu, 0, {"a", "b"}, {});
        ChannelLoad joint(mapping);
        std::array<ChannelShares, 2> shares;
        std::array<FlowId, 2> flows;
        const std::array<Footprint, 2> footprints = {
            Footprint{.start = 0, .extent = kBlock, .rows = 1024, .stride = kBlock * first},
            Footprint{.start = kBlock * apart, .extent = kBlock, .rows = 512, .stride = kBlock * second}};
        for (std::size_t i = 0; i < 2; ++i) {
          ChannelLoad load(mapping);
          load.add(footprints[i]);
          shares[i].read = load.busy({});
          for (double& share : shares[i].read)
            share /= load.bytes();
          memory.place(static_cast<int>(i), &shares[i]);
          joint.add(load);
          std::vector<Demand> demands;
          memory.add_hbm_read(demands, static_cast<int>(i), Bytes{load.bytes()});
          FlowSpec flow;
          flow.demands = demands;
          flows[i] = fluid.start(flow, nullptr);
        }
        fluid.next_date();
        const double law = joint.effective() * gpu.hbm.read.value / joint.bytes();  // of both, 1/s
        const double slower = std::min(fluid.rate(flows[0]), fluid.rate(flows[1]));
        most = std::max(most, std::abs(slower / law - 1.0));
        ++pairs;
      }
    }
  }
  return most;
}

}  // namespace

StudySection laws(const PublishedFigures& published) {
  StudySection section{
      .heading = "Closed forms by stride and mapping",
      .lines = {},
      .notes = {"Blocks of 256 B. rows: pairs of channels and stride, strides, or pairs of streams."},
      .decimals = 6};
  const auto add = [&](const char* id, std::string label, auto find) {
    StudyLine line{.figure = {.reference = published.find(id)}, .label = std::move(label)};
    line.figure.simulated = find(line.rows);
    section.lines.push_back(std::move(line));
  };
  add("laws.consecutive", "consecutive, 12 to 128 channels: not 1 / gcd(stride, channels)", consecutive_misses);
  add("laws.xor", "XOR, 32 channels: not what its bits say", xor_misses);
  add("laws.ipoly", "IPOLY, 2 to 512 channels: least share over powers of two", least_of_ipoly);
  add("laws.joint", "two streams in the solver: largest difference from sum / (C max)", joint_difference);
  return section;
}

}}  // namespace c3::studies
