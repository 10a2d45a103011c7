#pragma once
/// Keys of a GPU (configs/gpus/*.toml).

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "configs/fields/field.hpp"
#include "gpu/spec.hpp"
#include "gpu/waves.hpp"

namespace c3 { inline namespace configs {

/// "128x256x64 w8": rows, columns, step of K, wavefronts.
std::vector<GemmTile> read_tiles(Section& section, std::string_view key);

inline constexpr auto kComputeFields = std::to_array<Field<ComputeSpec>>({
    number<&ComputeSpec::xcds>("xcds", {1, 64},
                               "dies with an L2 and a work-group queue of their own; 1 on most GPUs"),
    number<&ComputeSpec::cus_per_xcd>("cus_per_xcd", {1, 1024}, "compute units (SMs) of one die"),
    quantity<&ComputeSpec::lds_per_cu>("lds_per_cu", "shared memory of one CU"),
    quantity<&ComputeSpec::registers_per_cu>("registers_per_cu", "vector register file of one CU"),
    number<&ComputeSpec::wave_slots_per_cu>("wave_slots_per_cu", {1, 256},
                                            "wavefronts (warps) that can be resident on one CU"),
    quantity<&ComputeSpec::boost_clock>("boost_clock", "highest core clock, at which peaks hold"),
    quantity<&ComputeSpec::outstanding>("cu_outstanding", "most loads that one CU keeps in flight").optional(),
    number<&ComputeSpec::speed_spread>("speed_spread", {0, 0.2},
                                       "standard deviation over GPUs of the speed of arithmetic, of its mean")
        .optional(),
});
static_assert(member_count<ComputeSpec>() == kComputeFields.size() + 2, "all but the matrix rates");

/// Each data type has these keys after its name: `bf16_peak`, `bf16_sustained`, `bf16_clock`, which two may be
/// left to the family's share, and `bf16_peak_clock`.
inline constexpr auto kMatrixFields = used_if<When::rate_is_taken>({
    quantity<&MatrixRate::peak>("peak", "dense matrix products at peak_clock").scaled_by("flops_scale"),
    quantity<&MatrixRate::sustained>("sustained", "large products, power limit included")
        .optional()
        .scaled_by("flops_scale"),
    quantity<&MatrixRate::clock>("clock", "core clock at the sustained rate").optional(),
    quantity<&MatrixRate::peak_clock>(
        "peak_clock", "core clock at which the data sheet's peak holds; without it, boost_clock")
        .by_others(),
});
static_assert(member_count<MatrixRate>() == kMatrixFields.size() + 2, "all but dtype and from_share");

inline constexpr auto kLibraryKernelFields = std::to_array<Field<LibraryKernelSpec>>({
    read_by<&LibraryKernelSpec::matrix_tiles, read_tiles>("matrix_tiles",
                                                          "tiles of the library's kernels on matrix units")
        .used_if(When::small_products_run),
    read_by<&LibraryKernelSpec::vector_tiles, read_tiles>("vector_tiles",
                                                          "tiles of the library's kernels on vector units"),
    read_by<&LibraryKernelSpec::batched_vector_tiles, read_tiles>(
        "batched_vector_tiles", "tiles of the library's batched products on vector units"),
    read_by<&LibraryKernelSpec::fp32_matrix_tiles, read_tiles>(
        "fp32_matrix_tiles", "tiles of its fp32 products, where matrix units compute those")
        .optional()
        .used_if(When::rate_is_taken),
    read_by<&LibraryKernelSpec::batched_fp32_matrix_tiles, read_tiles>(
        "batched_fp32_matrix_tiles", "tiles of its batched fp32 products, where matrix units compute those")
        .optional(),
    number<&LibraryKernelSpec::gemm_cluster>("gemm_cluster", {1, 16},
                                             "work groups that fetch a shared panel once for all of them")
        .optional()
        .used_if(When::small_products_run),
    number<&LibraryKernelSpec::gemm_stages>("gemm_stages", {0, 16},
                                            "steps of K that a matrix work group has in LDS; 0: as many as fit")
        .optional()
        .used_if(When::small_products_run),
    number<&LibraryKernelSpec::gemm_own_tiles>("gemm_own_tiles", {0, kMostOwnTiles},
                                               "own tiles of a persistent work group; 0: not persistent")
        .optional()
        .used_if(When::small_products_run),
    choice<&LibraryKernelSpec::gemm_choice>("gemm_choice",
                                            "fastest: the tile and split of least time by the cost model; "
                                            "library: those that rocBLAS takes, as learned from its tables")
        .optional()
        .used_if(When::products_run),
});
static_assert(member_count<LibraryKernelSpec>() == kLibraryKernelFields.size());

inline constexpr auto kDispatchFields = std::to_array<Field<DispatchSpec>>({
    choice<&DispatchSpec::policy>("dispatch_policy", "which queue's work groups are placed first")
        .used_if(When::queues_are_simulated),
    number<&DispatchSpec::work_group_spread>("work_group_spread", {0, 0.5},
                                             "standard deviation of a work group's time over its mean")
        .used_if(When::kernels_run),
    number<&DispatchSpec::shader_engines>("shader_engines", {1, 64},
                                          "shader engines (GPCs) of one die; see strict_rotation")
        .optional()
        .used_if(When::rotation_is_strict),
    quantity<&DispatchSpec::launch_latency>("launch_latency",
                                            "time from a packet in the queue to the first work group")
        .used_if(When::kernels_run, When::device_launches),
    quantity<&DispatchSpec::dependent_gap>("dependent_gap", "time between two dependent kernels of one stream")
        .used_if(When::queues_are_simulated),
});
static_assert(member_count<DispatchSpec>() == kDispatchFields.size() + 1, "all but mask_granule");

inline constexpr auto kHostFields = std::to_array<Field<HostSpec>>({
    quantity<&HostSpec::launch_skew>("launch_skew",
                                     "standard deviation of the hosts' launch times; no preset has it")
        .optional()
        .used_if(When::queues_are_simulated, When::several_gpus),
    quantity<&HostSpec::join>("host_join", "time until the host has seen that streams ended; no preset has it")
        .optional()
        .used_if(When::queues_are_simulated, When::streams_run_beside),
});
static_assert(member_count<HostSpec>() == kHostFields.size());

inline constexpr auto kSimulationFields = std::to_array<Field<SimulationSpec>>({
    number<&SimulationSpec::cohorts_per_placement>(
        "cohorts_per_placement", {1, 1024},
        "how finely to simulate: cohorts that fill an XCD; no preset has it")
        .optional()
        .used_if(When::queues_are_simulated, When::kernels_run),
});
static_assert(member_count<SimulationSpec>() == kSimulationFields.size() + 1,
              "all but the experiment's memory_grain");

inline constexpr auto kCacheFields = std::to_array<Field<CacheSpec>>({
    quantity<&CacheSpec::l2_size>("l2_size", "L2 cache of one die"),
    number<&CacheSpec::l2_partitions>("l2_partitions", {1, 64},
                                      "partitions of one die's L2; each has its own copy of what all read")
        .optional(),
    quantity<&CacheSpec::l2_bandwidth>("l2_bandwidth", "L2 bandwidth of one die, at boost clock"),
    quantity<&CacheSpec::xcd_port_bandwidth>("xcd_port_bandwidth",
                                             "bandwidth between one die and the memory side"),
    quantity<&CacheSpec::llc_size>("llc_size", "memory-side cache of the whole GPU; \"0 B\" without one")
        .or_none(),
    quantity<&CacheSpec::llc_bandwidth>("llc_bandwidth", "bandwidth of that cache; any value without one")
        .used_if(When::has_last_level_cache),
    quantity<&CacheSpec::fabric_bandwidth>("fabric_bandwidth",
                                           "bandwidth between dies, which all bytes of memory share")
        .optional(),
    choice<&CacheSpec::replacement>("replacement", "which line the last-level cache evicts").optional(),
    choice<&CacheSpec::write_back>("write_back", "when the caches write dirty lines back").optional(),
});
static_assert(member_count<CacheSpec>() == kCacheFields.size());

/// Achieved rates. Without any, the memory technology's share of the peak serves for all three.
inline constexpr auto kHbmRateFields = std::to_array<Field<HbmSpec>>({
    quantity<&HbmSpec::read>("hbm_read",
                             "achieved by reads alone; without it, the technology's share of the peak")
        .optional()
        .share_of("hbm_peak")
        .scaled_by("hbm_scale"),
    quantity<&HbmSpec::write>("hbm_write", "achieved by writes alone; without it, hbm_read")
        .optional()
        .share_of("hbm_peak")
        .scaled_by("hbm_scale"),
    quantity<&HbmSpec::copy>("hbm_copy",
                             "achieved by as many reads as writes, both counted; without it, hbm_read")
        .optional()
        .share_of("hbm_peak")
        .scaled_by("hbm_scale"),
});
inline constexpr auto kHbmFields = std::to_array<Field<HbmSpec>>({
    sourced_slug<&HbmSpec::technology>("hbm_technology", "decides the share of the peak that kernels reach"),
    quantity<&HbmSpec::size>("hbm_size", "total memory that the driver reports"),
    quantity<&HbmSpec::peak>("hbm_peak", "data sheet's memory bandwidth").scaled_by("hbm_scale"),
    quantity<&HbmSpec::latency>("hbm_latency", "time from a core to idle memory and back"),
    choice<&HbmSpec::arbitration>("hbm_arbitration", "how requesters share a full memory")
        .used_if(When::queues_are_simulated),
    number<&HbmSpec::fair_share>("hbm_fair_share", {0, 1},
                                 "least share of kernels under hbm_arbitration \"stream_fair\"")
        .optional()
        .used_if(When::stream_fair),
    number<&HbmSpec::stream_floor>("hbm_stream_floor", {0, 0.5},
                                   "share guaranteed to communication under \"compute_first\"")
        .optional()
        .used_if(When::compute_first),
    choice<&HbmSpec::store_order>("store_order", "when stores that bypass the caches are served").optional(),
});
static_assert(member_count<HbmSpec>() == kHbmFields.size() + kHbmRateFields.size() + 3,
              "all but from_share, pim and channels");

inline constexpr auto kChannelFields = std::to_array<Field<ChannelSpec>>({
    number<&ChannelSpec::count>("channels", {0, 512}, "independent memory channels; 0: not known").optional(),
    quantity<&ChannelSpec::interleave>("channel_interleave", "neighbouring bytes in one channel").optional(),
    number<&ChannelSpec::banks>("channel_banks", {1, 256}, "banks of a channel").optional(),
    quantity<&ChannelSpec::row>("channel_row", "bytes of a row of a bank").optional(),
    quantity<&ChannelSpec::row_cycle>("channel_row_cycle", "from one row to the next of a bank; 0: no cost")
        .optional()
        .scaled_by("hbm_scale"),
    choice<&ChannelSpec::mapping>("channel_mapping", "how addresses are dealt to channels").optional(),
});
static_assert(member_count<ChannelSpec>() == kChannelFields.size());

inline constexpr auto kPimFields = used_if<When::memory_computes>({
    number<&PimSpec::units>("pim_units", {0, 1024},
                            "units in a memory channel that answer one command; 0: none")
        .optional(),
    number<&PimSpec::interval>("pim_interval", {1, 64}, "time between such commands, over that of others")
        .optional(),
    number<&PimSpec::slots>("pim_slots", {0.01, 1}, "most of the command slots that they take").optional(),
});
static_assert(member_count<PimSpec>() == kPimFields.size());

inline constexpr auto kDmaFields = used_if<When::engines_move_data>({
    number<&DmaSpec::engines>("dma_engines", {0, 256}, "copy engines that reach peers; 0 without"),
    quantity<&DmaSpec::engine_bandwidth>("dma_engine_bandwidth", "bandwidth of one copy engine"),
    quantity<&DmaSpec::broadcast_bandwidth>("dma_broadcast_bandwidth",
                                            "bandwidth of one command that writes to two peers")
        .optional(),
    quantity<&DmaSpec::swap_bandwidth>("dma_swap_bandwidth",
                                       "bandwidth of one command that swaps, both ways together")
        .optional(),
    quantity<&DmaSpec::outstanding>("dma_outstanding",
                                    "bytes in flight of one copy engine: its bandwidth times the latency"),
    quantity<&DmaSpec::control>("dma_control", "host time to create commands and ring one doorbell"),
    quantity<&DmaSpec::schedule>("dma_schedule", "time of doorbell and fetch, on the engine"),
    quantity<&DmaSpec::copy_latency>("dma_copy_latency", "latency of a copy, beyond its bytes and the way"),
    quantity<&DmaSpec::next_copy>("dma_next_copy",
                                  "extra time of a copy that follows another without a signal"),
    quantity<&DmaSpec::sync>("dma_sync", "time of a completion signal, on the engine"),
    quantity<&DmaSpec::trigger>("dma_trigger", "time from the host's write to an engine that polls for it"),
    quantity<&DmaSpec::observe>("dma_observe", "host time to see one completion signal"),
    number<&DmaSpec::write_bytes>("dma_write_bytes", {0, 4},
                                  "memory bytes at the target per byte written, 1 or more")
        .optional(),
});
static_assert(member_count<DmaSpec>() == kDmaFields.size());

inline constexpr auto kTriggerFields = used_if<When::collectives_are_fused>({
    number<&TriggerSpec::tracker_entries>("tracker_entries", {0, 1 << 24},
                                          "work-group tiles tracked at a time; 0 without a tracker")
        .optional(),
    quantity<&TriggerSpec::latency>("trigger_latency",
                                    "time from a tile's last store to the first load of its copy")
        .optional(),
    quantity<&TriggerSpec::staging_window>("staging_window",
                                           "most bytes that a copy engine has read and not yet sent")
        .optional(),
    number<&TriggerSpec::near_memory_update>("near_memory_update", {0, 8},
                                             "time of adding a byte in memory over writing it; 0: it cannot")
        .optional(),
});
static_assert(member_count<TriggerSpec>() == kTriggerFields.size());

inline constexpr auto kStreamedFields = used_if<When::gemms_are_streamed>({
    number<&StreamedSpec::miss>("streamed_miss", {0, 1},
                                "share of a streamed GEMM's L2 requests that reach memory, alone")
        .optional(),
    number<&StreamedSpec::pollution>("streamed_pollution", {0, 1},
                                     "exponent with which that share grows as its part of the cache falls")
        .optional(),
    number<&StreamedSpec::relief>("streamed_relief", {0, 1},
                                  "share of the published effect of taking its CUs away")
        .optional(),
});
static_assert(member_count<StreamedSpec>() == kStreamedFields.size());

inline constexpr auto kPowerFields = std::to_array<Field<PowerSpec>>({
    number<&PowerSpec::coupling>("power_coupling", {0, 1},
                                 "share of the power limit's full effect on the clock")
        .optional(),
    quantity<&PowerSpec::as_traffic>("power_as_traffic",
                                     "memory traffic whose power alone would reach the limit")
        .optional()
        .used_if(When::power_couples),
});
static_assert(member_count<PowerSpec>() == kPowerFields.size());

inline constexpr auto kGovernorFields = std::to_array<Field<GovernorSpec>>({
    quantity<&GovernorSpec::board>("power_board", "power limit that the board is sold with").optional(),
    quantity<&GovernorSpec::limit>("power_limit", "power limit of this board; without it, power_board")
        .by_others(),
    quantity<&GovernorSpec::idle>("power_idle", "power at boost clock beside arithmetic and memory traffic")
        .optional(),
    number<&GovernorSpec::flop_pj>("flop_pj", {0, 100}, "pJ of a flop of a 16-bit product at boost clock")
        .optional(),
    number<&GovernorSpec::byte_pj>("byte_pj", {0, 1000}, "pJ of a byte of memory traffic").optional(),
    number<&GovernorSpec::exponent>("power_exponent", {0.05, 1},
                                    "slow-down = (power at boost clock / power limit)^exponent")
        .optional(),
    number<&GovernorSpec::burst>("power_burst", {1, 4}, "power that a burst may draw, in power limits")
        .optional(),
    quantity<&GovernorSpec::averaging>("power_averaging", "time constant of the mean power").optional(),
    number<&GovernorSpec::settled>("power_settled", {0.3, 1},
                                   "power of the long run, in that of the first half second")
        .optional(),
    quantity<&GovernorSpec::level>("sustained_level",
                                   "measured rate at which large 16-bit products settle; no preset has it")
        .optional()
        .scaled_by("flops_scale"),
    choice<&GovernorSpec::state>("clock_state", "clock of the kernels: burst, or sustained at the power limit")
        .optional(),
    sourced_slug<&GovernorSpec::measured_on>(
        "level_measured_on", "part of this chip, board and limit whose products were measured, or none")
        .optional(),
});
static_assert(member_count<GovernorSpec>() == kGovernorFields.size());

/// Streamed GEMMs and the power limit have tables of their own.
inline constexpr auto kHypothesisFields = std::to_array<Field<HypothesisSpec>>({
    number<&HypothesisSpec::l2_reuse>("l2_reuse", {0, 1},
                                      "share of the possible L2 sharing that a GEMM's work groups achieve")
        .optional(),
    number<&HypothesisSpec::lost_share_occupies>(
        "hbm_lost_share_occupies", {0, 1},
        "1: bandwidth lost to an access pattern is lost to others, too; 0: it is not")
        .optional(),
    quantity<&HypothesisSpec::hbm_service>(
        "hbm_service", "time of a memory channel for a request; a load waits for those before it")
        .optional()
        .scaled_by("hbm_scale")
        .used_if(When::queues_are_simulated),
    number<&HypothesisSpec::overlap_loss>(
        "overlap_loss", {0, 0.9}, "unexplained loss of a kernel's rate beside a collective; no preset has it")
        .optional()
        .used_if(When::kernels_run_beside_collectives),
    flag<&HypothesisSpec::strict_rotation>(
        "strict_rotation", "with two queues at once, each waits for the next shader engine in turn")
        .optional()
        .used_if(When::several_shader_engines, When::queues_are_simulated),
    number<&HypothesisSpec::product_after_others>(
        "product_after_others", {1, 2}, "time of a matrix product's arithmetic after other work, over a loop's")
        .optional()
        .used_if(When::work_runs_beside, When::products_run),
    number<&HypothesisSpec::release_rewrites>(
        "release_rewrites", {0, 1}, "share of stores written twice beside channels, whose releases flush L2")
        .optional()
        .used_if(When::kernels_run_beside_channels),
});
static_assert(member_count<HypothesisSpec>() == kHypothesisFields.size() + 2, "all but streamed and power");

inline constexpr auto kFamilyFields = std::to_array<Field<FamilySpec>>({
    sourced_slug<&FamilySpec::name>("family",
                                    "GPUs that share library kernels, and so sustained shares of their peaks"),
    choice<&FamilySpec::matrix_operands>(
        "matrix_operands", "where matrix units take operands from: decides tiles and their staging"),
    choice<&FamilySpec::gemm_order>("gemm_order", "order in which the work groups of a matrix product run"),
    flag<&FamilySpec::l1_keeps_loads>("l1_keeps_loads", "whether a CU's L1 keeps loads of global memory"),
    number<&FamilySpec::issue_lanes>("issue_lanes", {1, 1024},
                                     "threads for which a CU issues an instruction in a cycle"),
    choice<&FamilySpec::tuned_as>("tuned_as", "GPU whose published tables the collective library takes"),
});
static_assert(member_count<FamilySpec>() == kFamilyFields.size());

/// Coefficients of the classes of kernels (kKernelClasses) in `kernels`.
inline constexpr std::string_view kOfClass = "coefficients of this class of kernels";
inline constexpr auto kKernelTables = std::to_array<KeyText>({
    {"vector_gemm", kOfClass, {}, {When::vector_products_run}},
    {"matrix_gemm", kOfClass, {}, {When::small_products_run}},
    {"vector", kOfClass},
    {"attention", kOfClass, {}, {When::attention_runs}},
    {"convolution", kOfClass, {}, {When::convolutions_run}},
    {"scan", kOfClass, {}, {When::scans_run}},
});

/// Before the keys of fp32 products on matrix units: `fp32_matrix_peak`.
inline constexpr const char* kFp32Matrix = "fp32_matrix_";

/// Calls \p visit(key, QuantityOf) for every number with a unit of \p gpu; keys as "hbm_peak".
template <class Visit>
void each_quantity(GpuSpec& gpu, const Visit& visit) {
  each_quantity(gpu.compute, kComputeFields, "", visit);
  for (MatrixRate& rate : gpu.compute.matrix)
    each_quantity(rate, kMatrixFields, std::string(name_of(rate.dtype)) + "_", visit);
  if (gpu.compute.fp32_matrix.peak.value > 0.0)
    each_quantity(gpu.compute.fp32_matrix, kMatrixFields, kFp32Matrix, visit);
  each_quantity(gpu.dispatch, kDispatchFields, "", visit);
  each_quantity(gpu.cache, kCacheFields, "", visit);
  each_quantity(gpu.hbm, kHbmFields, "", visit);
  each_quantity(gpu.hbm, kHbmRateFields, "", visit);
  each_quantity(gpu.hbm.channels, kChannelFields, "", visit);
  each_quantity(gpu.dma, kDmaFields, "", visit);
  each_quantity(gpu.trigger, kTriggerFields, "", visit);
  each_quantity(gpu.hypotheses, kHypothesisFields, "", visit);
  each_quantity(gpu.hypotheses.power, kPowerFields, "", visit);
  each_quantity(gpu.host, kHostFields, "", visit);
  each_quantity(gpu.governor, kGovernorFields, "", visit);
}

static_assert(member_count<GpuSpec>() == 15,
              "each part but library_choice has its table above, and its line in each_quantity and read_gpu");

}}  // namespace c3::configs
