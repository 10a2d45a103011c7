#pragma once
/// What one GPU is. Immutable; read from configs/gpus/*.toml, where every number carries source and kind.

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "engine/units.hpp"
#include "gpu/kernel_model/coefficients.hpp"

namespace c3 {

enum class DType { bf16, fp16, fp8, fp32 };

/// Bytes of one element.
Bytes element_size(DType dtype);
std::string_view name_of(DType dtype);

/// Matrix throughput for one data type.
struct MatrixRate {
  DType dtype = DType::bf16;
  FlopsPerSecond peak;       ///< dense, at boost clock: the lower bound's rate
  FlopsPerSecond sustained;  ///< what large GEMMs reach, whole GPU, power limit included
  Hertz clock;               ///< core clock while they reach it
  bool from_share = false;   ///< sustained rate and clock follow from the family's share of the peak

  bool operator==(const MatrixRate&) const = default;
};

/// How kernels on different queues of equal priority get free CU slots.
enum class DispatchPolicy {
  oldest_first,  ///< the kernel enqueued first is placed until none of its work groups waits
  round_robin,   ///< one work group per queue in turn
  random_order,  ///< oldest first after a seeded shuffle of kernels enqueued at the same instant
};

/// How concurrent requesters share a saturated HBM.
enum class HbmArbitration {
  outstanding,     ///< in proportion to bytes in flight (Little's law)
  byte_fair,       ///< equal bytes per second per requester: work group, channel, engine
  equal_slowdown,  ///< each loses the same fraction of its speed alone
  stream_fair,     ///< computation has HbmSpec::fair_share, communication the rest, while both want more
  compute_first,   ///< computation before communication, which is promised HbmSpec::stream_floor (T3's MCA)
};
inline constexpr std::array kHbmArbitrations = {HbmArbitration::outstanding, HbmArbitration::byte_fair,
                                                HbmArbitration::equal_slowdown, HbmArbitration::stream_fair,
                                                HbmArbitration::compute_first};
/// Whether computation and communication are told apart, everywhere where they meet.
constexpr bool is_by_stream(HbmArbitration arbitration) {
  return arbitration == HbmArbitration::stream_fair || arbitration == HbmArbitration::compute_first;
}

/// When stores that bypass the caches are served, beside the loads of the work groups that follow.
enum class StoreOrder {
  shared,        ///< together
  stores_first,  ///< a work group keeps its CU until they are served
  loads_first,   ///< from what loads leave
};

/// When the caches write back what a kernel has stored in them.
enum class WriteBack {
  at_once,  ///< as soon as it is stored
  spread,   ///< over as long as the work groups that stored it ran; the kernel does not wait for it
};

/// Which line a cache gives up.
enum class Replacement {
  random,
  lru,  ///< the least recently used: of a cycle, all of it or nothing is kept
};

std::string_view name_of(DispatchPolicy policy);
std::string_view name_of(HbmArbitration arbitration);
std::string_view name_of(StoreOrder order);
std::string_view name_of(WriteBack write_back);
std::string_view name_of(Replacement replacement);

/// Architectures that share instructions and library kernels, and so the sustained shares of their peaks.
enum class GpuFamily {
  pascal,
  volta,
  turing,
  ampere,
  ada,
  hopper,
  blackwell,
  blackwell_rtx,
  cdna1,
  cdna2,
  cdna3,
  cdna4
};
inline constexpr std::array kGpuFamilies = {GpuFamily::pascal,    GpuFamily::volta,         GpuFamily::turing,
                                            GpuFamily::ampere,    GpuFamily::ada,           GpuFamily::hopper,
                                            GpuFamily::blackwell, GpuFamily::blackwell_rtx, GpuFamily::cdna1,
                                            GpuFamily::cdna2,     GpuFamily::cdna3,         GpuFamily::cdna4};
std::string_view name_of(GpuFamily family);

enum class MemoryTechnology { gddr5, gddr6, gddr7, hbm2, hbm2e, hbm3, hbm3e };
inline constexpr std::array kMemoryTechnologies = {
    MemoryTechnology::gddr5, MemoryTechnology::gddr6, MemoryTechnology::gddr7, MemoryTechnology::hbm2,
    MemoryTechnology::hbm2e, MemoryTechnology::hbm3,  MemoryTechnology::hbm3e};
std::string_view name_of(MemoryTechnology technology);

/// Output tile of one GEMM work group and the depth of one step of its K loop.
struct GemmTile {
  std::int64_t m = 256;
  std::int64_t n = 256;
  std::int64_t k = 64;
  int waves = 4;  ///< wavefronts of its work group
  friend bool operator==(const GemmTile&, const GemmTile&) = default;
};

struct ComputeSpec {
  int xcds = 1;         ///< dies with their own L2 and work-group queue
  int cus_per_xcd = 1;  ///< compute units (SMs) of one die
  Bytes lds_per_cu;
  Bytes registers_per_cu;
  int wave_slots_per_cu = 0;
  Hertz boost_clock;
  std::vector<MatrixRate> matrix;
  /// Tiles that the vendor's library has kernels for: on matrix units, on vector units, and of batched products
  /// there.
  std::vector<GemmTile> matrix_tiles = {};
  std::vector<GemmTile> vector_tiles = {};
  std::vector<GemmTile> batched_vector_tiles = {};
  Bytes outstanding{std::numeric_limits<double>::infinity()};  ///< loads that a CU can keep in flight, at most
  int gemm_cluster = 1;  ///< work groups that fetch the panel they share once, for all (TMA multicast)

  int cus() const { return xcds * cus_per_xcd; }

  bool operator==(const ComputeSpec&) const = default;
};

struct DispatchSpec {
  DispatchPolicy policy = DispatchPolicy::oldest_first;
  int mask_granule = 1;           ///< CUs; a stream's CU mask is a multiple of it
  int cohorts_per_placement = 8;  ///< a full XCD is filled by this many cohorts, each with its own drawn time
  double work_group_spread = 0;   ///< standard deviation of a work group's time, fraction of its mean
  Seconds launch_latency;         ///< packet to first work group, on the device
  Seconds dependent_gap;          ///< between two dependent kernels of one stream; nothing hides it
  Seconds launch_skew = {};       ///< by which the hosts of several GPUs launch apart, standard deviation
  Seconds host_join = {};  ///< more until the host has seen the end of streams that ran beside one another

  bool operator==(const DispatchSpec&) const = default;
};

struct CacheSpec {
  Bytes l2_size;                      ///< per XCD
  int l2_partitions = 1;              ///< of an XCD's L2; data that all its CUs read is kept in each
  BytesPerSecond l2_bandwidth;        ///< per XCD, at boost clock
  BytesPerSecond xcd_port_bandwidth;  ///< XCD to memory side, per XCD
  Bytes llc_size;                     ///< memory-side cache of the whole GPU; 0 = none
  BytesPerSecond llc_bandwidth;
  /// Of what carries memory's bytes between dies, whoever moves them: compute units, engines, peers.
  BytesPerSecond fabric_bandwidth{std::numeric_limits<double>::infinity()};
  double l2_reuse = 1.0;  ///< of what a GEMM's work groups could share in L2, the part that they do: 0..1
  Replacement replacement = Replacement::random;  ///< in the last level
  WriteBack write_back = WriteBack::at_once;

  bool operator==(const CacheSpec&) const = default;
};

struct HbmSpec {
  MemoryTechnology technology = MemoryTechnology::hbm3;
  Bytes size;
  BytesPerSecond peak;
  BytesPerSecond read;      ///< achieved by reads alone
  BytesPerSecond write;     ///< achieved by writes alone
  BytesPerSecond copy;      ///< achieved by a 1:1 mix, read plus written bytes
  bool from_share = false;  ///< these rates follow from the technology's share of the peak
  Seconds latency;          ///< idle, core to HBM and back
  HbmArbitration arbitration = HbmArbitration::outstanding;
  double fair_share = 0.5;    ///< of its rate, that kernels have under HbmArbitration::stream_fair at least
  double stream_floor = 0.1;  ///< of its rate, promised to communication under HbmArbitration::compute_first
  StoreOrder store_order = StoreOrder::shared;
  /// Whether HBM is busy with what a kernel's access pattern loses of its rate (KernelDescription::hbm_share),
  /// so that others miss it too: 1, or the kernel alone is slower: 0.
  double lost_share_occupies = 1.0;
  Seconds service = {};  ///< of one request by one channel: what a load waits for when others are before it;
                         ///< 0: loads do not wait below saturation

  bool operator==(const HbmSpec&) const = default;
};

struct DmaSpec {
  int engines = 0;                  ///< that can reach peers; 0 = no DMA backend
  BytesPerSecond engine_bandwidth;  ///< of one engine
  BytesPerSecond broadcast_bandwidth =
      {};                              ///< written to two peers together by one command; 0: no such command
  BytesPerSecond swap_bandwidth = {};  ///< both ways together of one command; 0: no such command
  Bytes outstanding;                   ///< in flight at HBM for one engine: bandwidth times latency
  Seconds control;                     ///< host work to create commands and ring one doorbell
  Seconds schedule;                    ///< doorbell and fetch, on the engine
  Seconds copy_latency = {};           ///< of a copy, beyond its bytes and the way
  Seconds next_copy = {};              ///< more for each copy that follows another without a signal in between
  Seconds sync;                        ///< completion signal, on the engine
  Seconds trigger = {};      ///< of a command queued ahead: from the host's write to the engine, which polls
  Seconds observe = {};      ///< host work to see one completion signal
  double write_bytes = 1.0;  ///< at the target's HBM, for each byte that an engine writes there

  bool operator==(const DmaSpec&) const = default;
};

/// Track and trigger (T3, arXiv 2401.16677): a tracker beside the memory counts stores to a kernel's output and
/// starts copies that were programmed ahead. No GPU that is sold has it.
struct TriggerSpec {
  int tracker_entries = 0;  ///< tiles of work groups that are counted at a time; 0: there is no tracker
  Seconds latency = {};     ///< from the last store of a tile to the first load of its copy
  /// What a copy engine has read and not yet sent, at most. Not what it has in flight (DmaSpec::outstanding).
  Bytes staging_window{std::numeric_limits<double>::infinity()};
  /// Written bytes for whose time HBM is busy when it adds a byte itself; 0: it cannot add.
  double near_memory_update = 0.0;

  bool operator==(const TriggerSpec&) const = default;
};

/// Loads of a GEMM told as `streamed`: one whose traffic geometry does not explain (StreamedTraffic).
struct StreamedSpec {
  double miss = 1.0;  ///< of what its tiles ask of L2, the share that reaches HBM with the caches to itself
  double pollution = 0.0;  ///< exponent with which its share of the LLC's insertions raises that
  double relief = 0.0;     ///< of the published effect of CUs taken away from such a GEMM: 0..1

  bool operator==(const StreamedSpec&) const = default;
};

/// What a power limit does to the clock of kernels that run into it, when others take power or CUs.
struct PowerSpec {
  double coupling = 0.0;  ///< of the full effect: 0 (the sustained clock, whatever else there is) to 1
  /// HBM traffic that would take all of the limit by itself.
  BytesPerSecond as_traffic{std::numeric_limits<double>::infinity()};

  bool operator==(const PowerSpec&) const = default;
};

struct GpuSpec {
  std::string name;  ///< slug, e.g. "mi300x"
  GpuFamily family = GpuFamily::cdna3;
  ComputeSpec compute;
  DispatchSpec dispatch;
  CacheSpec cache;
  HbmSpec hbm;
  DmaSpec dma;
  StreamedSpec streamed = {};
  PowerSpec power = {};
  TriggerSpec trigger = {};
  /// Of a kernel's arithmetic while a collective is in flight, the part that goes nobody knows where: 0 unless
  /// a study is calibrated with it.
  double overlap_loss = 0.0;
  KernelCoefficients kernels = {};  ///< of its family and memory

  bool operator==(const GpuSpec&) const = default;
};

/// \returns the entry for \p dtype. \throws InfeasibleError naming GPU and dtype when the GPU has none.
const MatrixRate& matrix_rate(const GpuSpec& gpu, DType dtype);

}  // namespace c3
