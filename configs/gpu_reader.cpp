#include <array>
#include <string>

#include "configs/spec_readers.hpp"

namespace c3 {
namespace {

constexpr std::array kDTypes = {DType::bf16, DType::fp16, DType::fp8, DType::fp32};

template <class Choice>
std::pair<std::string_view, Choice> named(Choice choice) {
  return {name_of(choice), choice};
}

const std::array kDispatchPolicies = {named(DispatchPolicy::oldest_first), named(DispatchPolicy::round_robin),
                                      named(DispatchPolicy::random_order)};

const std::array kHbmArbitrations = {named(HbmArbitration::outstanding), named(HbmArbitration::byte_fair),
                                     named(HbmArbitration::equal_slowdown)};

int small_integer(Section& section, std::string_view key, int low, int high) {
  return static_cast<int>(section.integer(key, low, high));
}

/// bf16_peak, bf16_sustained, bf16_clock and so on, for every data type that has a peak.
std::vector<MatrixRate> read_matrix_rates(Section& section, Hertz boost) {
  std::vector<MatrixRate> rates;
  for (const DType dtype : kDTypes) {
    const std::string name(name_of(dtype));
    if (!section.has(name + "_peak")) continue;
    const MatrixRate rate{.dtype = dtype,
                          .peak = section.flop_rate(name + "_peak"),
                          .sustained = section.flop_rate(name + "_sustained"),
                          .clock = section.frequency(name + "_clock")};
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
                      .matrix = {},
                      .gemm_tile = {}};
  compute.matrix = read_matrix_rates(section, compute.boost_clock);
  compute.gemm_tile = {.m = section.integer("gemm_tile_m", 16, 1024),
                       .n = section.integer("gemm_tile_n", 16, 1024),
                       .k = section.integer("gemm_tile_k", 8, 1024)};
  if (section.has("gemm_cluster")) compute.gemm_tile.cluster = section.integer("gemm_cluster", 1, 16);
  return compute;
}

DispatchSpec read_dispatch(Section& section, int cus) {
  DispatchSpec dispatch{.policy = section.choice<DispatchPolicy>("dispatch_policy", kDispatchPolicies),
                        .mask_granule = small_integer(section, "mask_granule", 1, cus),
                        .cohorts_per_placement = DispatchSpec{}.cohorts_per_placement,
                        .work_group_spread = section.fraction("work_group_spread", 0.5),
                        .launch_latency = section.duration("launch_latency"),
                        .dependent_gap = section.duration("dependent_gap")};
  if (section.has("cohorts_per_placement")) {  // how finely to simulate, not what the GPU is: no preset has it
    dispatch.cohorts_per_placement = small_integer(section, "cohorts_per_placement", 1, 1024);
  }
  return dispatch;
}

CacheSpec read_cache(Section& section) {
  return {.l2_size = section.bytes("l2_size"),
          .l2_bandwidth = section.bandwidth("l2_bandwidth"),
          .xcd_port_bandwidth = section.bandwidth("xcd_port_bandwidth"),
          .llc_size = section.bytes_or_none("llc_size"),
          .llc_bandwidth = section.bandwidth("llc_bandwidth")};
}

HbmSpec read_hbm(Section& section) {
  const HbmSpec hbm{.size = section.bytes("hbm_size"),
                    .peak = section.bandwidth("hbm_peak"),
                    .read = section.bandwidth("hbm_read"),
                    .write = section.bandwidth("hbm_write"),
                    .copy = section.bandwidth("hbm_copy"),
                    .latency = section.duration("hbm_latency"),
                    .arbitration = section.choice<HbmArbitration>("hbm_arbitration", kHbmArbitrations)};
  if (hbm.read > hbm.peak) section.fail("hbm_read", "must not be above hbm_peak");
  if (hbm.write > hbm.peak) section.fail("hbm_write", "must not be above hbm_peak");
  if (hbm.copy > hbm.peak) section.fail("hbm_copy", "must not be above hbm_peak");
  return hbm;
}

DmaSpec read_dma(Section& section) {
  return {.engines = small_integer(section, "dma_engines", 0, 256),
          .engine_bandwidth = section.bandwidth("dma_engine_bandwidth"),
          .outstanding = section.bytes("dma_outstanding"),
          .control = section.duration("dma_control"),
          .schedule = section.duration("dma_schedule"),
          .sync = section.duration("dma_sync")};
}

}  // namespace

DType read_dtype(Section& section, std::string_view key) {
  std::array<std::pair<std::string_view, DType>, kDTypes.size()> names;
  for (std::size_t i = 0; i < kDTypes.size(); ++i)
    names.at(i) = {name_of(kDTypes.at(i)), kDTypes.at(i)};
  return section.choice<DType>(key, names);
}

GpuSpec read_gpu(Section& section) {
  GpuSpec gpu;
  gpu.name = section.slug("name");
  gpu.compute = read_compute(section);
  gpu.dispatch = read_dispatch(section, gpu.compute.cus());
  gpu.cache = read_cache(section);
  gpu.hbm = read_hbm(section);
  gpu.dma = read_dma(section);
  section.finish();
  return gpu;
}

}  // namespace c3
