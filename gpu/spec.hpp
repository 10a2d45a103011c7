#pragma once
/// The specification of one GPU. Immutable; read from configs/gpus/*.toml, where numbers have source and kind.

#include <array>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/enum_names.hpp"
#include "engine/units.hpp"
#include "gpu/kernels/coefficients.hpp"
#include "gpu/library_kernels.hpp"
#include "gpu/memory_spec.hpp"

namespace c3 { inline namespace gpu {

enum class DType { bf16, fp16, fp8, fp32, fp4 };
constexpr auto enum_names(DType) {
  return std::to_array<EnumName<DType>>({{"bf16", DType::bf16},
                                         {"fp16", DType::fp16},
                                         {"fp8", DType::fp8},
                                         {"fp32", DType::fp32},
                                         {"fp4", DType::fp4},
                                         {"bfloat16", DType::bf16},
                                         {"float16", DType::fp16},
                                         {"half", DType::fp16},
                                         {"float32", DType::fp32},
                                         {"float", DType::fp32}});
}

/// Bytes of one element.
Bytes element_size(DType dtype);

/// Matrix throughput for one data type.
struct MatrixRate {
  DType dtype = DType::bf16;
  FlopsPerSecond peak;       ///< dense, at `peak_clock`: the lower bound's rate
  FlopsPerSecond sustained;  ///< rate of large GEMMs on the whole GPU, power limit included
  Hertz clock;               ///< core clock at that rate
  bool from_share = false;   ///< sustained rate and clock are derived from the family's share of the peak
  Hertz peak_clock = {};     ///< core clock at which the peak holds; 0: boost

  bool operator==(const MatrixRate&) const = default;
};

/// How free CU slots are given to kernels on different queues of equal priority.
enum class DispatchPolicy {
  oldest_first,  ///< the kernel enqueued first is placed until none of its work groups waits
  round_robin,   ///< one work group per queue in turn
  random_order,  ///< oldest first after a seeded shuffle of kernels enqueued at the same instant
};
constexpr auto enum_names(DispatchPolicy) {
  return std::to_array<EnumName<DispatchPolicy>>({{"oldest_first", DispatchPolicy::oldest_first},
                                                  {"round_robin", DispatchPolicy::round_robin},
                                                  {"random_order", DispatchPolicy::random_order}});
}

/// How concurrent requesters share a saturated HBM.
enum class HbmArbitration {
  outstanding,     ///< in proportion to bytes in flight (Little's law)
  byte_fair,       ///< equal bytes per second per requester: work group, channel, engine
  equal_slowdown,  ///< each loses the same fraction of its speed alone
  stream_fair,     ///< computation gets HbmSpec::fair_share and communication the rest while both want more
  compute_first,   ///< computation goes first; communication is guaranteed HbmSpec::stream_floor (T3's MCA)
};
constexpr auto enum_names(HbmArbitration) {
  return std::to_array<EnumName<HbmArbitration>>({{"outstanding", HbmArbitration::outstanding},
                                                  {"byte_fair", HbmArbitration::byte_fair},
                                                  {"equal_slowdown", HbmArbitration::equal_slowdown},
                                                  {"stream_fair", HbmArbitration::stream_fair},
                                                  {"compute_first", HbmArbitration::compute_first}});
}
inline constexpr auto kHbmArbitrations = enum_values<HbmArbitration>();
/// Whether \p arbitration treats computation and communication differently.
constexpr bool is_by_stream(HbmArbitration arbitration) {
  return arbitration == HbmArbitration::stream_fair || arbitration == HbmArbitration::compute_first;
}

/// When stores that bypass the caches are served, relative to the loads of later work groups.
enum class StoreOrder {
  shared,        ///< together
  stores_first,  ///< a work group keeps its CU until they are served
  loads_first,   ///< with the bandwidth that loads leave
};
constexpr auto enum_names(StoreOrder) {
  return std::to_array<EnumName<StoreOrder>>({{"shared", StoreOrder::shared},
                                              {"stores_first", StoreOrder::stores_first},
                                              {"loads_first", StoreOrder::loads_first}});
}

/// When the caches write dirty lines of a kernel back.
enum class WriteBack {
  at_once,  ///< as soon as it is stored
  spread,   ///< over the time that the storing work groups ran; the kernel does not wait for it
};
constexpr auto enum_names(WriteBack) {
  return std::to_array<EnumName<WriteBack>>({{"at_once", WriteBack::at_once}, {"spread", WriteBack::spread}});
}

/// Which line a cache evicts.
enum class Replacement {
  random,
  lru,  ///< the least recently used; a cyclic access pattern is kept whole or not at all
};
constexpr auto enum_names(Replacement) {
  return std::to_array<EnumName<Replacement>>({{"random", Replacement::random}, {"lru", Replacement::lru}});
}

/// Where matrix units take operands from.
enum class MatrixOperands {
  registers,      ///< of one wavefront (mma.sync, MFMA)
  shared_memory,  ///< of four wavefronts together (wgmma)
  tensor_memory,  ///< of two CUs that multiply as a pair (tcgen05)
};
constexpr auto enum_names(MatrixOperands) {
  return std::to_array<EnumName<MatrixOperands>>({{"registers", MatrixOperands::registers},
                                                  {"shared_memory", MatrixOperands::shared_memory},
                                                  {"tensor_memory", MatrixOperands::tensor_memory}});
}

/// In which order the work groups of a product's kernel are numbered, and so run.
enum class GemmOrder {
  columns,  ///< down the columns of the output
  blocks,   ///< a wave is a near-square block of the output on matrix units, and rows of it on vector units
};
constexpr auto enum_names(GemmOrder) {
  return std::to_array<EnumName<GemmOrder>>({{"columns", GemmOrder::columns}, {"blocks", GemmOrder::blocks}});
}

/// GPUs for which NCCL (the first four) and RCCL have published tables of their own.
enum class TunedGpu { volta, ampere, hopper, blackwell, mi250x, mi300x, mi355x };
constexpr auto enum_names(TunedGpu) {
  return std::to_array<EnumName<TunedGpu>>({{"volta", TunedGpu::volta},
                                            {"ampere", TunedGpu::ampere},
                                            {"hopper", TunedGpu::hopper},
                                            {"blackwell", TunedGpu::blackwell},
                                            {"mi250x", TunedGpu::mi250x},
                                            {"mi300x", TunedGpu::mi300x},
                                            {"mi355x", TunedGpu::mi355x}});
}

/// What GPUs of one architecture share: instructions, and what the libraries' kernels do with them.
struct FamilySpec {
  std::string name;  ///< selects its shares among the kernel coefficients: "hopper"
  MatrixOperands matrix_operands = MatrixOperands::registers;
  GemmOrder gemm_order = GemmOrder::columns;
  bool l1_keeps_loads = true;            ///< loads of global memory stay in a CU's L1
  int issue_lanes = 128;                 ///< threads for which a CU issues an instruction in a cycle
  TunedGpu tuned_as = TunedGpu::mi300x;  ///< whose tables collective libraries take for it

  bool operator==(const FamilySpec&) const = default;
};

struct ComputeSpec {
  int xcds = 1;         ///< dies with their own L2 and work-group queue
  int cus_per_xcd = 1;  ///< compute units (SMs) of one die
  Bytes lds_per_cu;
  Bytes registers_per_cu;
  int wave_slots_per_cu = 0;
  Hertz boost_clock;
  std::vector<MatrixRate> matrix;
  MatrixRate fp32_matrix = {};  ///< fp32 products on matrix units; peak 0: vector units compute them
  Bytes outstanding{std::numeric_limits<double>::infinity()};  ///< most loads that a CU keeps in flight
  double speed_spread = 0.0;  ///< standard deviation over GPUs of the time that arithmetic takes, of its mean

  int cus() const { return xcds * cus_per_xcd; }

  bool operator==(const ComputeSpec&) const = default;
};

struct DispatchSpec {
  DispatchPolicy policy = DispatchPolicy::oldest_first;
  int mask_granule = 1;          ///< CUs; a stream's CU mask is a multiple of it
  int shader_engines = 1;        ///< of one die, over which its CUs are spread
  double work_group_spread = 0;  ///< standard deviation of a work group's time, fraction of its mean
  Seconds launch_latency;        ///< packet to first work group, on the device
  Seconds dependent_gap;         ///< between two dependent kernels of one stream; nothing hides it

  bool operator==(const DispatchSpec&) const = default;
};

struct CacheSpec {
  Bytes l2_size;                      ///< per XCD
  int l2_partitions = 1;              ///< of an XCD's L2; data that all its CUs read is duplicated in each
  BytesPerSecond l2_bandwidth;        ///< per XCD, at boost clock
  BytesPerSecond xcd_port_bandwidth;  ///< XCD to memory side, per XCD
  Bytes llc_size;                     ///< memory-side cache of the whole GPU; 0 = none
  BytesPerSecond llc_bandwidth;
  /// Bandwidth between dies, for all bytes of memory: of compute units, copy engines and peers.
  BytesPerSecond fabric_bandwidth{std::numeric_limits<double>::infinity()};
  Replacement replacement = Replacement::random;  ///< in the last level
  WriteBack write_back = WriteBack::at_once;

  bool operator==(const CacheSpec&) const = default;
};

struct HbmSpec {
  std::string technology;  ///< selects its share among the kernel coefficients: "hbm3e"
  Bytes size;
  BytesPerSecond peak;
  BytesPerSecond read;      ///< achieved by reads alone
  BytesPerSecond write;     ///< achieved by writes alone
  BytesPerSecond copy;      ///< achieved by a 1:1 mix, read plus written bytes
  bool from_share = false;  ///< these rates follow from the technology's share of the peak
  Seconds latency;          ///< idle, core to HBM and back
  HbmArbitration arbitration = HbmArbitration::outstanding;
  double fair_share = 0.5;    ///< smallest fraction of HBM bandwidth that kernels get under `stream_fair`
  double stream_floor = 0.1;  ///< fraction of HBM bandwidth guaranteed to communication under `compute_first`
  StoreOrder store_order = StoreOrder::shared;
  PimSpec pim = {};
  ChannelSpec channels = {};

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
  Seconds next_copy = {};              ///< extra time of a copy that follows another without a signal
  Seconds sync;                        ///< completion signal, on the engine
  Seconds trigger = {};      ///< of a command queued ahead: from the host's write to the engine, which polls
  Seconds observe = {};      ///< host work to see one completion signal
  double write_bytes = 1.0;  ///< HBM bytes at the target per byte that an engine writes there

  bool operator==(const DmaSpec&) const = default;
};

/// Track and trigger (T3, arXiv 2401.16677): a tracker beside the memory counts stores to a kernel's output and
/// starts copies that were programmed ahead. Proposed hardware; no product has it.
struct TriggerSpec {
  int tracker_entries = 0;  ///< work-group tiles tracked at a time; 0: no tracker
  Seconds latency = {};     ///< from the last store of a tile to the first load of its copy
  /// Most bytes that a copy engine has read and not yet sent; bytes in flight at HBM are DmaSpec::outstanding.
  Bytes staging_window{std::numeric_limits<double>::infinity()};
  /// HBM time to add one byte in memory, in units of writing one; 0: memory cannot add.
  double near_memory_update = 0.0;

  bool operator==(const TriggerSpec&) const = default;
};

/// Loads of a GEMM marked `streamed`, whose HBM traffic cannot be explained by tile geometry (StreamedTraffic).
struct StreamedSpec {
  double miss = 1.0;       ///< fraction of its tiles' L2 requests that reach HBM when the kernel runs alone
  double pollution = 0.0;  ///< exponent with which that fraction grows as its share of LLC insertions falls
  double relief = 0.0;     ///< fraction of the published effect of taking CUs away from such a GEMM: 0..1

  bool operator==(const StreamedSpec&) const = default;
};

/// In which state of the clock kernels run.
enum class ClockState {
  burst,      ///< at the boost clock: alone, for a few milliseconds from idle
  sustained,  ///< at the clock that the power limit leaves to a stream of this kernel
};
constexpr auto enum_names(ClockState) {
  return std::to_array<EnumName<ClockState>>(
      {{"burst", ClockState::burst}, {"sustained", ClockState::sustained}});
}

/// What a board draws, and what its limit makes of the clock (gpu/clock/governor.hpp).
struct GovernorSpec {
  Watts board;            ///< limit that the part is sold with; 0: not known, and nothing slows
  Watts limit;            ///< mean power that this board may draw
  Watts idle;             ///< drawn at boost clock beside arithmetic and traffic
  double flop_pj = 0;     ///< pJ of one flop of a 16-bit matrix product at boost clock; others by their peak
  double byte_pj = 0;     ///< pJ of one byte at HBM
  double exponent = 0.5;  ///< slow-down = (power at boost / limit)^exponent
  double burst = 1.35;    ///< power that the first milliseconds may draw, in limits (assumed)
  Seconds averaging;      ///< over which power is averaged
  double settled =
      1.0;  ///< power that the board allows in the long run, in what it allows in the first half second
  FlopsPerSecond level = {};  ///< measured: where large 16-bit products of this node settle; 0: `limit` decides
  ClockState state = ClockState::sustained;
  /// Slug of the part whose large products were measured under this limit: this one, or one of the same chip
  /// and class of board; "none" or empty: no such part was.
  std::string measured_on = {};

  bool operator==(const GovernorSpec&) const = default;
};

/// Effect of a power limit on the clock of kernels that reach it while others take power or CUs.
struct PowerSpec {
  double coupling = 0.0;  ///< fraction of the full effect: 0 (always the sustained clock) to 1
  /// HBM traffic whose power alone would reach the limit.
  BytesPerSecond as_traffic{std::numeric_limits<double>::infinity()};

  bool operator==(const PowerSpec&) const = default;
};

/// What is believed of a GPU and not known: no measurement separates these mechanisms from others. Their
/// defaults leave a kernel as its description has it. A preset gives a range with its evidence where GEMMs told
/// as `streamed`, or access patterns that lose bandwidth, need one; studies vary the others.
struct HypothesisSpec {
  StreamedSpec streamed = {};
  PowerSpec power = {};
  double l2_reuse = 1.0;  ///< fraction of the possible L2 sharing that a GEMM's work groups achieve: 0..1
  /// Whether bandwidth lost to a kernel's access pattern (KernelDescription::hbm_share) still occupies HBM, so
  /// that others lose it too (1), or only the kernel itself is slower (0).
  double lost_share_occupies = 1.0;
  Seconds hbm_service = {};  ///< of one channel for one request; a load waits as long for each one before it;
                             ///< 0: loads do not wait below saturation
  /// Unexplained fraction of a kernel's compute rate lost while any collective is in flight. 0 except in
  /// calibrated studies.
  double overlap_loss = 0.0;
  /// While two queues are on the GPU, each deals its work groups to the shader engines in strict rotation and
  /// waits for one that is full (EngineRotation).
  bool strict_rotation = false;
  /// Time of a matrix product's arithmetic after or beside other work, over that in a loop of itself.
  double product_after_others = 1.0;
  /// Fraction of a kernel's stores that is written to memory twice while channels of collectives run, whose
  /// system-scope releases write back lines of L2 that are not complete.
  double release_rewrites = 0.0;

  bool operator==(const HypothesisSpec&) const = default;
};

/// What a study believes of the host that feeds the GPU. No preset has it.
struct HostSpec {
  Seconds launch_skew = {};  ///< standard deviation of the launch times of several GPUs' hosts
  Seconds join = {};         ///< extra time until the host has seen that concurrent streams ended

  bool operator==(const HostSpec&) const = default;
};

/// How finely to simulate, not what the GPU is. No preset has it.
struct SimulationSpec {
  int cohorts_per_placement = 8;  ///< a full XCD is filled by this many cohorts, each with its own drawn time
  MemoryGrain memory_grain = MemoryGrain::whole;  ///< the experiment's, see Measure

  bool operator==(const SimulationSpec&) const = default;
};

/// Hardware, then what libraries run on it, what is only believed of it, the host, and the grain of simulation.
struct GpuSpec {
  std::string name;  ///< slug, e.g. "mi300x"
  FamilySpec family;
  ComputeSpec compute;
  DispatchSpec dispatch;
  CacheSpec cache;
  HbmSpec hbm;
  DmaSpec dma;
  TriggerSpec trigger = {};
  LibraryKernelSpec library_kernels = {};
  /// What the library takes for a product, of GemmChoice::library; else nullptr.
  std::shared_ptr<const LibraryChoice> library_choice = {};
  KernelCoefficients kernels = {};  ///< for its family and memory technology
  GovernorSpec governor = {};
  HypothesisSpec hypotheses = {};
  HostSpec host = {};
  SimulationSpec simulation = {};

  bool operator==(const GpuSpec&) const = default;
};

/// The rate of matrix products of \p dtype, on whichever units compute them. \throws as matrix_rate.
const MatrixRate& product_rate(const GpuSpec& gpu, DType dtype);

/// Whether matrix units take operands of \p dtype that do not lie along k, so that a tensor needs no transposed
/// copy for its other products. Of 8 bits tcgen05 does, of 4 bits it does not; wgmma and mma.sync take them
/// along k only (NVIDIA PTX ISA; TransformerEngine, nvte_is_non_tn_fp8_gemm_supported). MFMA: assumed.
bool takes_any_layout(const GpuSpec& gpu, DType dtype);

/// \returns the entry for \p dtype. \throws InfeasibleError naming GPU and dtype when the GPU has none.
const MatrixRate& matrix_rate(const GpuSpec& gpu, DType dtype);

}}  // namespace c3::gpu
