#include "app/bench/load.hpp"

#include <fmt/format.h>

namespace c3::bench {
namespace {

// Orders of magnitude of an 8x H100 node: NVIDIA H100 SXM datasheet (HBM, NVLink) and eight 400 Gb/s NICs. A
// benchmark of the engine, not a prediction: nothing depends on their being exact.
constexpr double kHbm = 3.35e12;   // B/s
constexpr double kNvlink = 450e9;  // B/s and direction
constexpr double kNics = 400e9;    // B/s and direction, of a node
constexpr double kSms = 132.0;
constexpr std::size_t kGpusPerNode = 8;

ResourceId add(Load& load, double capacity) {
  load.capacities.push_back(capacity);
  return static_cast<ResourceId>(load.capacities.size() - 1);
}

struct Gpu {
  ResourceId hbm, out, in;
};

Gpu add_gpu(Load& load) { return {add(load, kHbm), add(load, kNvlink), add(load, kNvlink)}; }

Lane copy(const Gpu& from, const Gpu& to) {
  return {.demands = {{from.hbm, 1.0}, {from.out, 1.0}, {to.in, 1.0}, {to.hbm, 1.0}}, .mean_size = 4e6};
}

/// A kernel that alone moves \p rate bytes of HBM per second on all SMs.
Lane kernel(const Gpu& gpu, ResourceId sms, double rate) {
  return {.demands = {{gpu.hbm, 1.0}, {sms, kSms / rate}}, .bound = rate, .mean_size = 100e6};
}

Load node_mix() {
  constexpr std::size_t kStreams = 8;
  Load load{.name = "node-mix",
            .what = "8 GPUs x 8 streams: 3/4 kernels (HBM and SMs), 1/4 copies to another GPU",
            .events = 300'000,
            .native_events = 60'000};
  std::vector<Gpu> gpus;
  std::vector<ResourceId> sms;
  for (std::size_t g = 0; g < kGpusPerNode; ++g) {
    gpus.push_back(add_gpu(load));
    sms.push_back(add(load, kSms));
  }
  for (std::size_t g = 0; g < kGpusPerNode; ++g) {
    for (std::size_t s = 0; s < kStreams; ++s) {
      const bool is_copy = s % 4 == 3;
      const bool is_memory_bound = s % 2 == 0;
      const std::size_t peer = (g + 1 + s / 4) % kGpusPerNode;
      load.lanes.push_back(is_copy ? copy(gpus[g], gpus[peer])
                                   : kernel(gpus[g], sms[g], is_memory_bound ? 3.0e12 : 0.6e12));
    }
  }
  return load;
}

/// \p rings rings of \p ranks GPUs, 8 to a node, one chunk an operation.
Load add_rings(Load load, std::size_t rings, std::size_t ranks) {
  load.ring_size = ranks;
  std::vector<Gpu> gpus;
  std::vector<ResourceId> nic_out, nic_in;
  for (std::size_t g = 0; g < rings * ranks; ++g) {
    gpus.push_back(add_gpu(load));
    if (g % kGpusPerNode != 0) continue;
    nic_out.push_back(add(load, kNics));
    nic_in.push_back(add(load, kNics));
  }
  for (std::size_t g = 0; g < gpus.size(); ++g) {
    const std::size_t next = g - g % ranks + (g + 1) % ranks;
    const std::size_t node = g / kGpusPerNode, next_node = next / kGpusPerNode;
    Lane lane = copy(gpus[g], gpus[next]);
    if (node != next_node) {
      lane.demands = {
          {gpus[g].hbm, 1.0}, {nic_out[node], 1.0}, {nic_in[next_node], 1.0}, {gpus[next].hbm, 1.0}};
    }
    load.lanes.push_back(lane);
  }
  return load;
}

Load ring(std::size_t ranks, std::size_t events, std::size_t native_events) {
  Load load{.name = fmt::format("ring-{}", ranks),
            .what = fmt::format("one ring of {} GPUs, 8 to a node, chunk by chunk", ranks),
            .events = events,
            .native_events = native_events};
  return add_rings(std::move(load), 1, ranks);
}

Load nodes_512() {
  Load load{.name = "nodes-512",
            .what = "512 independent nodes, each a ring of 8 GPUs",
            .events = 500'000,
            .native_events = 20'000};
  return add_rings(std::move(load), 512, kGpusPerNode);
}

}  // namespace

std::vector<Load> all_loads() {
  return {node_mix(),
          ring(8, 600'000, 100'000),
          ring(64, 600'000, 80'000),
          ring(512, 500'000, 60'000),
          ring(4'096, 500'000, 20'000),
          nodes_512()};
}

}  // namespace c3::bench
