#include "gpu/kernels/gemm/gemm_kernel.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "gpu/cache_reuse.hpp"
#include "gpu/clock/governor.hpp"
#include "gpu/kernels/gemm/streamed_traffic.hpp"
#include "gpu/kernels/held_registers.hpp"
#include "gpu/kernels/tiling.hpp"

namespace c3 { inline namespace gpu {
namespace {

// How sharply the slower of arithmetic and HBM decides; as fitted with the coefficients.
constexpr double kVectorOverlap = 4.0;
constexpr double kMatrixOverlap = 8.0;

// K steps between the first and the last work group that use a panel: the step being computed and the one
// prefetched.
constexpr double kStepsInFlight = 2.0;

// Of a thread, however few results it computes: it has addresses and fragments, too. The fewest of cuBLAS'
// GEMMs in public traces: sgemm of 32 x 128 with 256 threads on A100 (facebookresearch/HolisticTraceAnalysis,
// f4d0062c).
constexpr double kLeastRegisters = 57.0;
constexpr double kRegister = 4.0;  // bytes
constexpr double kLanes = 32.0;    // of a wavefront; AMD's have 64, but its wave slots run out first

/// Tile rows and columns that are in flight together.
struct Distinct {
  double rows, columns;
};

/// Of \p count tiles taken every \p stride in dispatch order, rows fastest.
Distinct distinct_panels(std::int64_t count, std::int64_t stride, std::int64_t tile_rows) {
  const std::int64_t rows = std::min(count, tile_rows / std::gcd(stride, tile_rows));
  const std::int64_t columns = std::min(count, (count - 1) * stride / tile_rows + 1);
  return {static_cast<double>(rows), static_cast<double>(columns)};
}

/// Of \p count tiles of bands that are \p band columns wide and \p tile_rows high.
Distinct block_of(std::int64_t count, std::int64_t band, std::int64_t tile_rows) {
  const std::int64_t rows = std::min(ceil_div(count, band), tile_rows);
  return {static_cast<double>(rows), static_cast<double>(ceil_div(count, rows))};
}

/// Loads of a tiled GEMM. Work groups of one XCD share panels in its L2 while they are within a few K steps of
/// each other; XCDs share them in the LLC; panels needed again a wave or a column later may survive in the LLC.
class TiledTraffic final : public TrafficModel {
 public:
  TiledTraffic(const GemmShape& shape, const GemmPlan& plan, const OperandSizes& element, double l2_reuse)
      : tile_rows_(ceil_div(shape.m, plan.tile.m)),
        tile_columns_(ceil_div(shape.n, plan.tile.n)),
        k_steps_(static_cast<double>(ceil_div(plan.k_of_work_group, plan.tile.k))),
        a_panel_(element.a * panel(shape.m, plan.tile.m, shape.k, plan.split)),
        b_panel_(element.b * panel(shape.n, plan.tile.n, shape.k, plan.split)),
        band_(plan.band),
        l2_loads_(plan.l2_loads),
        output_(result_size(shape) * static_cast<double>(plan.tile.m * plan.tile.n)),
        l2_reuse_(l2_reuse),
        warm_(shape.warm),
        products_(static_cast<double>(shape.batch * plan.split)) {}

  Traffic per_work_group(const CacheState& state) const override {
    CacheState asked = state;
    if (asked.l2_intruder.value <= 0.0 && asked.llc_intruder.value <= 0.0) asked.work_group_time = {};
    if (last_state_ != asked) {
      last_state_ = asked;
      last_ = compute(asked);
    }
    return last_;
  }

 private:
  /// Mean elements of a tile's panel: the last one is not loaded where it is empty.
  static double panel(std::int64_t extent, std::int64_t side, std::int64_t k, std::int64_t split) {
    const std::int64_t tiles = ceil_div(extent, side);
    return static_cast<double>(extent) / static_cast<double>(tiles) * static_cast<double>(k) /
           static_cast<double>(split);
  }

  /// Products of a batch, and parts of a split K, share nothing but the caches.
  Traffic compute(CacheState state) const {
    const Cold cold = cold_operands(state);
    const std::int64_t tiles = tile_rows_ * tile_columns_;
    const std::int64_t resident = std::clamp<std::int64_t>(state.resident, 1, tiles);
    const double part =
        static_cast<double>(resident) / static_cast<double>(std::max<std::int64_t>(1, state.resident));
    state.l2_size = state.l2_size * part;
    state.llc_size = state.llc_size * part;
    Traffic traffic;
    traffic.l2 = std::max(l2_loads_, std::max(a_panel_, b_panel_));
    const Bytes l2_window = l2_misses(state, resident, traffic);
    traffic.hbm = llc_misses(state, resident, traffic, l2_window, cold);
    if (cold != Cold{}) traffic.found = llc_misses(state, resident, traffic, l2_window, {}) - traffic.hbm;
    traffic.llc = std::max(traffic.llc, traffic.hbm);
    return traffic;
  }

  /// Sets traffic.llc. \returns the bytes of distinct panels that one XCD has in flight.
  Bytes l2_misses(const CacheState& state, std::int64_t resident, Traffic& traffic) const {
    const std::int64_t in_xcd = ceil_div(resident, state.xcds);
    const Distinct panels =
        band_ > 1 ? block_of(in_xcd, band_, tile_rows_) : distinct_panels(in_xcd, state.xcds, tile_rows_);
    const Bytes first_touch =
        (panels.rows * a_panel_ + panels.columns * b_panel_) / static_cast<double>(in_xcd);
    const Bytes shared = l2_reuse_ * (traffic.l2 - std::min(first_touch, traffic.l2));
    const double steps = kStepsInFlight / k_steps_;
    const Bytes window = steps * (panels.rows * a_panel_ + panels.columns * b_panel_);
    const Bytes intruder = state.l2_intruder * (steps * state.work_group_time);
    const double miss = reuse_miss_fraction(Bytes{0}, window + intruder, state.l2_size);
    traffic.llc = traffic.l2 - shared + miss * shared;
    return window;
  }

  /// Share of each operand that the caches do not have when the kernel starts.
  struct Cold {
    double a = 1.0, b = 1.0;

    bool operator==(const Cold&) const = default;
  };
  /// A repeated product goes round its operands and its result; A that was just written is as recent.
  Cold cold_operands(const CacheState& state) const {
    if (warm_ == WarmOperands::none || state.cold) return {};
    const auto rows = static_cast<double>(tile_rows_);
    const auto columns = static_cast<double>(tile_columns_);
    const Bytes a = products_ * rows * a_panel_;
    const Bytes b = products_ * columns * b_panel_;
    const Bytes results = state.stores_bypass ? Bytes{} : products_ * rows * columns * output_;
    const bool all = warm_ == WarmOperands::all;
    const double missed =
        reuse_miss_fraction(all ? a + b : a, all ? results : b + results, state.llc_size, state.replacement);
    return {missed, all ? missed : 1.0};
  }

  /// \returns mean HBM bytes of a work group.
  Bytes llc_misses(const CacheState& state, std::int64_t resident, const Traffic& traffic, Bytes l2_window,
                   const Cold& cold) const {
    const auto tiles = static_cast<double>(tile_rows_ * tile_columns_);
    const auto concurrent = static_cast<double>(resident);
    const auto rows = static_cast<double>(tile_rows_);
    const auto columns = static_cast<double>(tile_columns_);
    const double waves = tiles / concurrent;
    const Bytes stored = state.stores_bypass ? Bytes{} : concurrent * output_;
    const Bytes others = stored + state.llc_intruder * state.work_group_time;  // per wave

    // Same panel in several XCDs at about the same time.
    const double steps = kStepsInFlight / k_steps_;
    const Bytes llc_window =
        static_cast<double>(state.xcds) * l2_window + state.llc_intruder * (steps * state.work_group_time);
    const double short_miss = reuse_miss_fraction(Bytes{0}, llc_window, state.llc_size, state.replacement);

    // A wave goes down a band of columns. One as high as the matrix uses all of A again and fresh columns of B;
    // a lower one uses the band's columns again and returns to a row of A after a whole band.
    const auto band = std::min({static_cast<double>(band_), columns, concurrent});
    const double wave_rows = concurrent / band;
    const bool whole_columns = wave_rows >= rows;
    const double a_uses = whole_columns ? waves : columns / band;
    const double a_interval = whole_columns ? 1.0 : rows / wave_rows;  // waves
    const double b_uses = whole_columns ? 1.0 : rows / wave_rows;
    const Bytes a_total = rows * a_panel_;
    const Bytes b_total = columns * b_panel_;
    const double b_columns = whole_columns ? std::max(1.0, concurrent / rows) : band;
    const Bytes a_stream = b_columns * b_panel_ + a_interval * others;
    const Bytes b_stream = std::min(wave_rows, rows) * a_panel_ + others;
    const double a_miss = reuse_miss_fraction(a_total, a_stream, state.llc_size, state.replacement);
    const double b_miss = reuse_miss_fraction(band * b_panel_, b_stream, state.llc_size, state.replacement);
    const Bytes once = a_total + b_total;
    const Bytes again = std::max(0.0, a_uses - 1.0) * a_total + std::max(0.0, b_uses - 1.0) * b_total;
    const Bytes again_missed =
        std::max(0.0, a_uses - 1.0) * a_miss * a_total + std::max(0.0, b_uses - 1.0) * b_miss * b_total;
    const Bytes requested = tiles * traffic.llc;
    const Bytes at_once = requested - std::min(requested, once + again);
    const Bytes first = cold.a * a_total + cold.b * b_total;
    const Bytes hbm = (first + again_missed + short_miss * at_once) / tiles;
    return std::max(std::min(hbm, traffic.llc), first / tiles);
  }

  std::int64_t tile_rows_;
  std::int64_t tile_columns_;
  double k_steps_;
  Bytes a_panel_;
  Bytes b_panel_;
  std::int64_t band_;  ///< columns; 1: rows fastest
  Bytes l2_loads_;
  Bytes output_;
  double l2_reuse_;
  WarmOperands warm_;
  double products_;  ///< of the batch, each part of a split K for itself
  // Cohorts of one wave ask the same question; a simulation is single-threaded.
  mutable std::optional<CacheState> last_state_;
  mutable Traffic last_;
};

/// fp32 accumulators and operand fragments in twice as many registers, and addresses however small the tile.
WorkGroupNeeds needs_of(const GemmTile& tile, Bytes step, bool on_vectors, const GpuSpec& gpu) {
  const int stages = on_vectors ? 1 : gpu.library_kernels.gemm_stages;
  const Bytes lds = stages == 0 ? gpu.compute.lds_per_cu : step * stages;
  const Bytes tile_needs{
      std::max(8.0 * static_cast<double>(tile.m * tile.n), kRegister * kLeastRegisters * kLanes * tile.waves)};
  const Bytes registers = on_vectors ? tile_needs : held_registers(gpu, tile_needs);
  return {.lds = std::min(lds, gpu.compute.lds_per_cu),
          .registers = std::min(registers, gpu.compute.registers_per_cu),
          .waves = tile.waves};
}

/// The library plans for the whole GPU, whatever part of it the kernel finds.
PersistentBlocks persistent_blocks(const KernelDescription& kernel, const GpuSpec& gpu) {
  const int own = gpu.library_kernels.gemm_own_tiles;
  const std::int64_t blocks =
      std::int64_t{gpu.compute.cus()} * work_groups_per_cu(gpu.compute, kernel.needs, kernel.name);
  return own > 0 ? PersistentBlocks{std::min(blocks, kernel.work_groups), own} : PersistentBlocks{};
}

/// Loads of C. Where K is split, the kernel that adds up the parts has them, too.
void add_to_memory(KernelDescription& kernel, const GemmShape& shape, const GemmPlan& plan,
                   const GpuSpec& gpu) {
  const Bytes all = result_size(shape) * (static_cast<double>(shape.batch) * static_cast<double>(shape.m) *
                                          static_cast<double>(shape.n));
  if (plan.split == 1)
    kernel.added_to = all / static_cast<double>(plan.work_groups);
  else
    kernel.overhead += all / gpu.hbm.read;
}

}  // namespace

KernelDescription describe_product(std::string name, const GemmShape& shape, const GpuSpec& gpu,
                                   const GemmPlan& plan) {
  const MatrixRate& rate = product_rate(gpu, shape.dtype);
  const GemmCoefficients& coefficients = coefficients_for(shape, gpu);
  const OperandSizes element = operand_sizes(shape);
  const Bytes result = result_size(shape);
  const auto product = [](auto... extents) { return (static_cast<double>(extents) * ...); };

  KernelDescription kernel;
  kernel.name = std::move(name);
  kernel.work_groups = plan.work_groups;
  const Bytes step_bytes =
      element.a * product(plan.tile.m, plan.tile.k) + element.b * product(plan.tile.n, plan.tile.k);
  const bool on_vectors = on_vector_units(shape.dtype, gpu);
  kernel.needs = needs_of(plan.tile, step_bytes, on_vectors, gpu);
  if (!on_vectors) kernel.persistent = persistent_blocks(kernel, gpu);
  kernel.flops = Flops{2.0 * product(plan.tile.m, plan.tile.n, plan.k_of_work_group)};
  kernel.compute_time = plan.arithmetic;
  kernel.least_time = plan.least;
  kernel.split = plan.split;
  kernel.overhead = plan.reduction;
  kernel.clock = rate.clock;
  kernel.prologue = static_cast<double>(plan.tile.k) / static_cast<double>(plan.k_of_work_group);
  kernel.overlap = on_vectors ? kVectorOverlap : kMatrixOverlap;
  kernel.hbm_share = coefficients.hbm_share;
  kernel.after_others = gpu.hypotheses.product_after_others;
  kernel.outstanding = step_bytes;
  const Bytes stored = plan.split > 1 ? element_size(DType::fp32) : result;
  kernel.output =
      stored * (product(shape.batch, shape.m, shape.n, plan.split) / static_cast<double>(plan.work_groups));
  if (adds(shape.result)) add_to_memory(kernel, shape, plan, gpu);
  kernel.measured_launch = plan.launch;
  kernel.call = shape.batch > 1 ? CallKind::batched_product : CallKind::product;
  kernel.peak = rate.peak;
  if (!on_vectors) kernel.flop_energy = flop_energy(shape.dtype);
  kernel.useful_flops = Flops{2.0 * product(shape.batch, shape.m, shape.n, shape.k)};
  const double a = shape.warm == WarmOperands::none ? product(shape.m, shape.k) : 0.0;
  const double b = shape.warm != WarmOperands::all ? product(shape.k, shape.n) : 0.0;
  const double results = adds(shape.result) ? 2.0 : 1.0;  // C is read and written
  const Bytes once = element.a * a + element.b * b + result * (results * product(shape.m, shape.n));
  kernel.compulsory = static_cast<double>(shape.batch) * once;
  kernel.traffic = std::make_shared<TiledTraffic>(shape, plan, element, gpu.hypotheses.l2_reuse);
  if (shape.traffic == GemmTraffic::streamed) {
    const BytesPerSecond most = gpu.hbm.read * kernel.hbm_share;
    kernel.traffic = std::make_shared<StreamedTraffic>(kernel.traffic, gpu.hypotheses.streamed, most);
  }
  return kernel;
}

}}  // namespace c3::gpu
