#pragma once
/// A GPU, node and library in round numbers near the MI300X presets: tests by hand must not move when a preset
/// does. No drawn times, and memory fast enough to stop nothing but what a test makes slow.

#include "collectives/spec.hpp"

namespace c3::test {

inline GpuSpec mi300x_like_gpu() {
  using namespace literals;
  GpuSpec gpu;
  gpu.name = "mi300x-like";
  gpu.compute = {.xcds = 8,
                 .cus_per_xcd = 38,
                 .lds_per_cu = 64.0_KiB,
                 .registers_per_cu = 512.0_KiB,
                 .wave_slots_per_cu = 32,
                 .boost_clock = 2100.0_MHz,
                 .matrix = {{DType::bf16, 1300.0_TFLOPs, 700.0_TFLOPs, 1200.0_MHz}}};
  gpu.library_kernels.matrix_tiles = {{.m = 256, .n = 256, .k = 64, .waves = 4}};
  gpu.kernels.matrix_gemm.split_us = 1e6;  // K is never worth splitting
  gpu.dispatch = {.policy = DispatchPolicy::oldest_first,
                  .mask_granule = 8,
                  .work_group_spread = 0.0,
                  .launch_latency = 2.0_us,
                  .dependent_gap = 1.5_us};
  gpu.cache = {.l2_size = 4.0_MiB,
               .l2_bandwidth = 40.0_TBps,
               .xcd_port_bandwidth = 20.0_TBps,
               .llc_size = 256.0_MiB,
               .llc_bandwidth = 160.0_TBps};
  gpu.hbm = {.technology = "hbm3",
             .size = 192.0_GB,
             .peak = 500.0_TBps,
             .read = 500.0_TBps,
             .write = 500.0_TBps,
             .copy = 500.0_TBps,
             .latency = 0.4_us,
             .arbitration = HbmArbitration::outstanding};
  gpu.dma = {.engines = 14,
             .engine_bandwidth = 40.0_GBps,
             .outstanding = 60.0_kB,
             .control = 0.6_us,
             .schedule = 2.5_us,
             .sync = 2.0_us};
  return gpu;
}

/// The same with rates for every type that a training step has.
inline GpuSpec mi300x_like_trainer() {
  using namespace literals;
  GpuSpec gpu = mi300x_like_gpu();
  gpu.compute.matrix.push_back({DType::fp16, 1300.0_TFLOPs, 700.0_TFLOPs, 1200.0_MHz});
  gpu.compute.matrix.push_back({DType::fp32, 160.0_TFLOPs, 100.0_TFLOPs, 1200.0_MHz});
  return gpu;
}

inline NodeSpec full_mesh(int gpus) {
  using namespace literals;
  return {.name = "mesh",
          .topology = NodeTopology::full_mesh,
          .gpus = gpus,
          .link = {.raw = 64.0_GBps, .one_way = 48.4_GBps, .both_ways = 46.5_GBps, .latency = 0.3_us}};
}

/// Ports of 370 GB/s to a switch, both directions at 350 GB/s each.
inline NodeSpec switched(int gpus) {
  using namespace literals;
  return {.name = "switch",
          .topology = NodeTopology::switched,
          .gpus = gpus,
          .link = {.raw = 450.0_GBps, .one_way = 370.0_GBps, .both_ways = 350.0_GBps, .latency = 0.3_us}};
}

/// 56 channels, of which two fit on a CU: 8 GB/s each when alone there, 6 GB/s each when two.
inline CollectiveLibrarySpec rccl_like() {
  using namespace literals;
  CollectiveLibrarySpec library;
  library.name = "rccl-like";
  library.channels = 56;
  library.waves_per_channel = 4;
  library.channel_lds = 30.0_KiB;
  library.channel_registers = 224.0_KiB;
  library.simple.channel_rate = 8.0_GBps;
  library.cu_rate = 12.0_GBps;
  library.clock_share = 0.5;
  library.link_payload = 42.0_GBps;
  library.staging_bytes = 0.5;
  library.channel_outstanding = 10.0_kB;
  library.simple.base_latency = 17.0_us;
  library.simple.hop_latency = 2.2_us;
  library.chunk_size = 512.0_KiB;
  return library;
}

inline ClusterSpec mi300x_like_cluster(int gpus = 8) {
  return {
      .name = "mi300x-like-cluster", .gpu = mi300x_like_gpu(), .node = full_mesh(gpus), .library = rccl_like()};
}

}  // namespace c3::test
