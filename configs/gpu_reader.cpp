#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <string>

#include "configs/scales.hpp"
#include "configs/spec_readers.hpp"
#include "gpu/kernels/coefficient_table.hpp"

namespace c3 {
namespace {

constexpr double kMostOverlapLoss = 0.9;  // a kernel goes on

int small_integer(Section& section, std::string_view key, int low, int high) {
  return static_cast<int>(section.integer(key, low, high));
}

/// "128x256x64 w8": rows, columns, step of K, wavefronts.
std::vector<GemmTile> read_tiles(Section& section, std::string_view key) {
  const PatternRule form{"[0-9]+x[0-9]+x[0-9]+ w[0-9]+", "128x256x64 w8"};
  std::vector<GemmTile> tiles;
  for (const PlacedText& text : section.sourced_texts(key, form)) {
    GemmTile tile;
    int end = 0;
    const int read = std::sscanf(text.name.c_str(), "%4" SCNd64 "x%4" SCNd64 "x%4" SCNd64 " w%2d%n", &tile.m,
                                 &tile.n, &tile.k, &tile.waves, &end);
    const bool fits = read == 4 && static_cast<std::size_t>(end) == text.name.size() && tile.m >= 8 &&
                      tile.m <= 1024 && tile.n >= 8 && tile.n <= 1024 && tile.k >= 8 && tile.k <= 1024 &&
                      tile.waves >= 1 && tile.waves <= 32;
    if (!fits) {
      throw ConfigError(
          text.origin, section.dotted(key),
          fmt::format("must be rows, columns and step of K, 8..1024, and wavefronts, 1..32, as in "
                      "\"{}\", not \"{}\"",
                      form.example, text.name));
    }
    tiles.push_back(tile);
  }
  return tiles;
}

/// bf16_peak and so on, for every data type that has a peak. The sustained rate of large GEMMs, bf16_sustained,
/// and their clock, bf16_clock, may be left to the family's share (set_coefficients).
std::vector<MatrixRate> read_matrix_rates(Section& section, Hertz boost) {
  std::vector<MatrixRate> rates;
  for (const DType dtype : enum_values<DType>()) {
    const std::string name(name_of(dtype));
    if (!section.has(name + "_peak")) continue;
    MatrixRate rate{.dtype = dtype, .peak = section.flop_rate(name + "_peak"), .sustained = {}, .clock = {}};
    rate.from_share = !section.has(name + "_sustained");
    if (rate.from_share) {
      rates.push_back(rate);
      continue;
    }
    rate.sustained = section.flop_rate(name + "_sustained");
    if (section.has(name + "_clock")) rate.clock = section.frequency(name + "_clock");
    if (rate.sustained > rate.peak) section.fail(name + "_sustained", "must not be above the peak");
    if (rate.clock > boost) section.fail(name + "_clock", "must not be above boost_clock");
    rates.push_back(rate);
  }
  return rates;
}

ComputeSpec read_compute(Section& section) {
  ComputeSpec compute{.xcds = small_integer(section, "xcds", 1, 64),
                      .cus_per_xcd = small_integer(section, "cus_per_xcd", 1, 1024),
                      .lds_per_cu = section.bytes("lds_per_cu"),
                      .registers_per_cu = section.bytes("registers_per_cu"),
                      .wave_slots_per_cu = small_integer(section, "wave_slots_per_cu", 1, 256),
                      .boost_clock = section.frequency("boost_clock"),
                      .matrix = {}};
  compute.matrix = read_matrix_rates(section, compute.boost_clock);
  compute.matrix_tiles = read_tiles(section, "matrix_tiles");
  compute.vector_tiles = read_tiles(section, "vector_tiles");
  compute.batched_vector_tiles = read_tiles(section, "batched_vector_tiles");
  if (section.has("cu_outstanding")) compute.outstanding = section.bytes("cu_outstanding");
  if (section.has("gemm_cluster")) compute.gemm_cluster = small_integer(section, "gemm_cluster", 1, 16);
  return compute;
}

DispatchSpec read_dispatch(Section& section, int cus) {
  DispatchSpec dispatch{.policy = section.choice<DispatchPolicy>("dispatch_policy"),
                        .mask_granule = small_integer(section, "mask_granule", 1, cus),
                        .cohorts_per_placement = DispatchSpec{}.cohorts_per_placement,
                        .work_group_spread = section.fraction("work_group_spread", 0.5),
                        .launch_latency = section.duration("launch_latency"),
                        .dependent_gap = section.duration("dependent_gap")};
  if (section.has("cohorts_per_placement")) {  // how finely to simulate, not what the GPU is: no preset has it
    dispatch.cohorts_per_placement = small_integer(section, "cohorts_per_placement", 1, 1024);
  }
  // Of the host: what a study believes of it. No preset has them.
  if (section.has("launch_skew")) dispatch.launch_skew = section.duration("launch_skew");
  if (section.has("host_join")) dispatch.host_join = section.duration("host_join");
  return dispatch;
}

CacheSpec read_cache(Section& section) {
  CacheSpec cache{
      .l2_size = section.bytes("l2_size"),
      .l2_partitions = section.has("l2_partitions") ? small_integer(section, "l2_partitions", 1, 64) : 1,
      .l2_bandwidth = section.bandwidth("l2_bandwidth"),
      .xcd_port_bandwidth = section.bandwidth("xcd_port_bandwidth"),
      .llc_size = section.bytes_or_none("llc_size"),
      .llc_bandwidth = section.bandwidth("llc_bandwidth")};
  if (section.has("fabric_bandwidth")) cache.fabric_bandwidth = section.bandwidth("fabric_bandwidth");
  if (section.has("l2_reuse")) cache.l2_reuse = section.fraction("l2_reuse");
  if (section.has("replacement")) cache.replacement = section.choice<Replacement>("replacement");
  if (section.has("write_back")) cache.write_back = section.choice<WriteBack>("write_back");
  return cache;
}

/// Achieved rates. Without any, the memory technology's share of the peak serves for all three. With hbm_read
/// alone, the others equal it, as they do under that share.
void read_hbm_rates(Section& section, HbmSpec& hbm) {
  hbm.from_share = !section.has("hbm_read");
  if (hbm.from_share) {
    for (const std::string_view key : {"hbm_write", "hbm_copy"}) {
      if (!section.is_rehearsal() && section.has(key))
        section.fail(key, "requires hbm_read too; hbm_read alone sets all three rates");
    }
    return;
  }
  hbm.read = section.bandwidth("hbm_read");
  hbm.write = section.has("hbm_write") ? section.bandwidth("hbm_write") : hbm.read;
  hbm.copy = section.has("hbm_copy") ? section.bandwidth("hbm_copy") : hbm.read;
  if (hbm.read > hbm.peak) section.fail("hbm_read", "must not be above hbm_peak");
  if (hbm.write > hbm.peak) section.fail("hbm_write", "must not be above hbm_peak");
  if (hbm.copy > hbm.peak) section.fail("hbm_copy", "must not be above hbm_peak");
}

HbmSpec read_hbm(Section& section) {
  HbmSpec hbm;
  hbm.technology = section.sourced_slug("hbm_technology");
  hbm.size = section.bytes("hbm_size");
  hbm.peak = section.bandwidth("hbm_peak");
  read_hbm_rates(section, hbm);
  hbm.latency = section.duration("hbm_latency");
  hbm.arbitration = section.choice<HbmArbitration>("hbm_arbitration");
  if (section.has("hbm_lost_share_occupies"))
    hbm.lost_share_occupies = section.fraction("hbm_lost_share_occupies");
  if (section.has("hbm_service")) hbm.service = section.duration("hbm_service");
  if (section.has("hbm_fair_share")) hbm.fair_share = section.fraction("hbm_fair_share");
  if (section.has("hbm_stream_floor")) hbm.stream_floor = section.fraction("hbm_stream_floor", 0.5);
  if (section.has("store_order")) hbm.store_order = section.choice<StoreOrder>("store_order");
  return hbm;
}

BytesPerSecond optional_bandwidth(Section& section, std::string_view key) {
  return section.has(key) ? section.bandwidth(key) : BytesPerSecond{};
}

DmaSpec read_dma(Section& section) {
  constexpr double kMostWriteBytes = 4.0;
  DmaSpec dma{.engines = small_integer(section, "dma_engines", 0, 256),
              .engine_bandwidth = section.bandwidth("dma_engine_bandwidth"),
              .broadcast_bandwidth = optional_bandwidth(section, "dma_broadcast_bandwidth"),
              .swap_bandwidth = optional_bandwidth(section, "dma_swap_bandwidth"),
              .outstanding = section.bytes("dma_outstanding"),
              .control = section.duration("dma_control"),
              .schedule = section.duration("dma_schedule"),
              .copy_latency = section.duration("dma_copy_latency"),
              .next_copy = section.duration("dma_next_copy"),
              .sync = section.duration("dma_sync"),
              .trigger = section.duration("dma_trigger"),
              .observe = section.duration("dma_observe")};
  if (section.has("dma_write_bytes")) {
    dma.write_bytes = section.fraction("dma_write_bytes", kMostWriteBytes);
    if (dma.write_bytes < 1.0) section.fail("dma_write_bytes", "must not be below 1");
  }
  return dma;
}

StreamedSpec read_streamed(Section& section) {
  StreamedSpec streamed;
  if (section.has("streamed_miss")) streamed.miss = section.fraction("streamed_miss");
  if (section.has("streamed_pollution")) streamed.pollution = section.fraction("streamed_pollution");
  if (section.has("streamed_relief")) streamed.relief = section.fraction("streamed_relief");
  return streamed;
}

TriggerSpec read_trigger(Section& section) {
  constexpr std::int64_t kMostEntries = 1 << 24;
  constexpr double kMostUpdateBytes = 8.0;
  TriggerSpec trigger;
  if (section.has("tracker_entries"))
    trigger.tracker_entries = static_cast<int>(section.integer("tracker_entries", 0, kMostEntries));
  if (section.has("trigger_latency")) trigger.latency = section.duration("trigger_latency");
  if (section.has("staging_window")) trigger.staging_window = section.bytes("staging_window");
  if (section.has("near_memory_update"))
    trigger.near_memory_update = section.fraction("near_memory_update", kMostUpdateBytes);
  if (trigger.near_memory_update > 0.0 && trigger.near_memory_update < 1.0)
    section.fail("near_memory_update", "must be 0, for memory that cannot add, or not below 1");
  return trigger;
}

PowerSpec read_power(Section& section) {
  PowerSpec power;
  if (section.has("power_coupling")) power.coupling = section.fraction("power_coupling");
  if (section.has("power_as_traffic")) power.as_traffic = section.bandwidth("power_as_traffic");
  return power;
}

FamilySpec read_family(Section& section) {
  return {.name = section.sourced_slug("family"),
          .matrix_operands = section.choice<MatrixOperands>("matrix_operands"),
          .gemm_order = section.choice<GemmOrder>("gemm_order"),
          .l1_keeps_loads = section.sourced_flag("l1_keeps_loads"),
          .tuned_as = section.choice<TunedGpu>("tuned_as")};
}

}  // namespace

DType read_dtype(Section& section, std::string_view key) { return section.choice<DType>(key); }

GpuSpec read_gpu(Section& section) {
  GpuSpec gpu;
  gpu.name = section.slug("name");
  gpu.compute = read_compute(section);
  gpu.dispatch = read_dispatch(section, gpu.compute.cus());
  gpu.cache = read_cache(section);
  gpu.hbm = read_hbm(section);
  gpu.dma = read_dma(section);
  gpu.streamed = read_streamed(section);
  gpu.power = read_power(section);
  gpu.trigger = read_trigger(section);
  if (section.has("overlap_loss")) gpu.overlap_loss = section.fraction("overlap_loss", kMostOverlapLoss);
  gpu.family = read_family(section);
  const KernelCoefficients coefficients =
      read_kernel_coefficients(section.table("kernels"), gpu.family.name, gpu.hbm.technology);
  const double hbm_scale = read_scale(section, "hbm_scale");
  const double flops_scale = read_scale(section, "flops_scale");
  section.finish();
  if (!section.is_rehearsal()) set_coefficients(gpu, coefficients);  // what it derives is scaled with the rest
  scale(gpu.hbm, hbm_scale);
  scale_flops(gpu.compute, flops_scale);
  return gpu;
}

}  // namespace c3
