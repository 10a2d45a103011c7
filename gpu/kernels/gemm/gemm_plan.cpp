#include "gpu/kernels/gemm/gemm_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "engine/errors.hpp"
#include "gpu/kernels/gemm/load_width.hpp"
#include "gpu/kernels/tiling.hpp"

namespace c3 { inline namespace gpu {
namespace {

constexpr std::array<std::int64_t, 14> kVectorSplits = {1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 26, 32, 40};
constexpr std::array<std::int64_t, 8> kMatrixSplits = {1, 2, 3, 4, 6, 8, 12, 16};
// A part of K shorter than this is not worth a work group of its own (cuBLAS and CUTLASS heuristics).
constexpr std::int64_t kShortestVectorPart = 64;
constexpr std::int64_t kShortestMatrixPart = 128;
constexpr double kReferenceLanes = 64;            // for which the vector class's `operand` holds
constexpr double kReferenceProducts = 1024;       // the matrix class's, with operands from registers
constexpr double kGroupReferenceProducts = 2048;  // the same with operands from shared memory (wgmma)
constexpr double kPairReferenceProducts = 4096;   // the same of two CUs' tensor memory (tcgen05)
constexpr double kStepsOfK = 64;                  // of `step_cycles`
constexpr double kAccumulator = 4;                // bytes

/// The clock at which the peak holds, often below boost.
double clock_of_peak(const MatrixRate& rate, const GpuSpec& gpu) {
  const double boost = gpu.compute.boost_clock.value;
  return rate.peak_clock.value > 0.0 ? std::min(rate.peak_clock.value, boost) : boost;
}

/// Fused multiply-adds of one CU and clock that the data sheet's peak stands for.
double products_per_clock(const MatrixRate& rate, const GpuSpec& gpu) {
  return rate.peak.value / (2.0 * gpu.compute.cus() * clock_of_peak(rate, gpu));
}

double reference_products(MatrixOperands operands) {
  switch (operands) {
    case MatrixOperands::registers:
      return kReferenceProducts;
    case MatrixOperands::shared_memory:
      return kGroupReferenceProducts;
    case MatrixOperands::tensor_memory:
      return kPairReferenceProducts;
  }
  throw std::logic_error("reference_products: unknown place of operands");
}

/// `operand` of the class, scaled to this GPU's CUs.
double operand_side(const MatrixRate& rate, const GpuSpec& gpu) {
  const KernelCoefficients& all = gpu.kernels;
  if (on_vector_units(rate.dtype, gpu)) {
    return all.vector_gemm.operand * products_per_clock(rate, gpu) / kReferenceLanes;
  }
  const double bits = 16.0 / (8.0 * element_size(rate.dtype).value);  // twice the products of half the bytes
  return all.matrix_gemm.operand * products_per_clock(rate, gpu) /
         (bits * reference_products(gpu.family.matrix_operands));
}

bool pairs_up(DType dtype, const GpuSpec& gpu) {
  return gpu.family.matrix_operands == MatrixOperands::tensor_memory && !on_vector_units(dtype, gpu);
}

/// \p paired: two CUs multiply as a pair (tcgen05), and each stages half of the longer operand.
double loss_at(const GemmTile& tile, double operand, bool paired) {
  const auto m = static_cast<double>(tile.m);
  const auto n = static_cast<double>(tile.n);
  const double halved = paired ? 0.5 * std::max(m, n) : 0.0;
  const double side = operand * (m + n - halved) / (m * n);
  return std::sqrt(1.0 + side * side);
}

std::span<const GemmTile> tiles_for(DType dtype, bool batched, const GpuSpec& gpu) {
  const LibraryKernelSpec& library = gpu.library_kernels;
  const bool vectors = on_vector_units(dtype, gpu);
  const std::vector<GemmTile>* tiles = &library.matrix_tiles;
  if (vectors) tiles = batched ? &library.batched_vector_tiles : &library.vector_tiles;
  if (!vectors && dtype == DType::fp32)
    tiles = batched ? &library.batched_fp32_matrix_tiles : &library.fp32_matrix_tiles;
  if (tiles->empty()) {
    throw InfeasibleError(fmt::format("gpu '{}' has no GEMM tiles for {}", gpu.name, name_of(dtype)));
  }
  return *tiles;
}

double norm(double a, double b) {  // exponent 8: as good as the longer, but for near ties
  const double ratio = std::min(a, b) / std::max(a, b);
  const double squared = ratio * ratio;
  const double fourth = squared * squared;
  return std::max(a, b) * std::sqrt(std::sqrt(std::sqrt(1.0 + fourth * fourth)));
}

/// What scaling partial sums takes beside multiplying: `scale_ops` (`mx_ops`) multiply-adds of the vector units
/// for each result and block of k, at the same clock as the matrix units and not beside them.
double scaling_share(const GemmShape& shape, const MatrixRate& rate, const GpuSpec& gpu) {
  const std::int64_t together = scaled_together(shape.scales);
  if (together == 0) return 0.0;
  const GemmCoefficients& of = gpu.kernels.matrix_gemm;
  const double ops = shape.scales == GemmScales::block ? of.scale_ops : of.mx_ops;
  return ops * (rate.peak / matrix_rate(gpu, DType::fp32).peak) / static_cast<double>(together);
}

/// The tile of \p kernel, with wavefronts as plan_by says. \p known: the GPU's tiles
GemmTile tile_of(const LibraryGemm& kernel, std::span<const GemmTile> known) {
  constexpr std::int64_t kOneWave = 256;  // results
  GemmTile tile{.m = kernel.tile_m, .n = kernel.tile_n, .k = kernel.depth_k};
  const auto alike =
      std::ranges::find_if(known, [&](const GemmTile& each) { return each.m == tile.m && each.n == tile.n; });
  tile.waves = alike != known.end() ? alike->waves : tile.m * tile.n <= kOneWave ? 1 : 4;
  return tile;
}

bool is_square(const GemmTile& tile) { return tile.m == 128 && tile.n == 128; }

}  // namespace

bool on_vector_units(DType dtype, const GpuSpec& gpu) {
  return dtype == DType::fp32 && gpu.compute.fp32_matrix.peak.value <= 0.0;
}

const GemmCoefficients& coefficients_for(const GemmShape& shape, const GpuSpec& gpu) {
  return on_vector_units(shape.dtype, gpu) ? gpu.kernels.vector_gemm : gpu.kernels.matrix_gemm;
}

std::span<const GemmTile> tiles_for(const GemmShape& shape, const GpuSpec& gpu) {
  return tiles_for(shape.dtype, shape.batch > 1, gpu);
}

double operand_loss(const GemmTile& tile, DType dtype, const GpuSpec& gpu) {
  return loss_at(tile, operand_side(product_rate(gpu, dtype), gpu), pairs_up(dtype, gpu));
}

double least_operand_loss(DType dtype, const GpuSpec& gpu) {
  const double operand = operand_side(product_rate(gpu, dtype), gpu);
  double least = std::numeric_limits<double>::infinity();
  for (const GemmTile& tile : tiles_for(dtype, /*batched=*/false, gpu))
    least = std::min(least, loss_at(tile, operand, pairs_up(dtype, gpu)));
  return least;
}

GemmPlanner::GemmPlanner(const GemmShape& shape, const GpuSpec& gpu)
    : shape_(shape),
      gpu_(gpu),
      rate_(product_rate(gpu, shape.dtype)),
      coefficients_(coefficients_for(shape, gpu)),
      on_vectors_(on_vector_units(shape.dtype, gpu)),
      operand_(operand_side(rate_, gpu)),
      clock_(clock_of_peak(rate_, gpu)),
      products_(rate_.sustained.value * least_operand_loss(shape.dtype, gpu) / gpu.compute.cus()),
      element_(element_size(shape.dtype).value),
      a_element_(operand_sizes(shape).a.value),
      b_element_(operand_sizes(shape).b.value),
      result_(result_size(shape.dtype).value),
      scaling_(scaling_share(shape, rate_, gpu)),
      width_(narrowest_share(shape, element_)),
      prologue_(prologue()),
      chosen_(shape.batch > 1 ? 1.0 : coefficients_.choice_loss),
      layout_(shape.layout == GemmLayout::nt ? coefficients_.nt_loss : 1.0),
      has_square_(std::ranges::any_of(tiles_for(shape, gpu), is_square)) {}

std::vector<GemmOffer> GemmPlanner::offers() const {
  std::vector<TileOffer> tiles;
  for (const GemmTile& tile : tiles_for(shape_, gpu_))
    if (is_offered(tile)) tiles.push_back(of_tile(tile));
  std::vector<GemmOffer> offers;
  for (const std::int64_t split : splits()) {
    if (split > 1 && shape_.k < split * (on_vectors_ ? kShortestVectorPart : kShortestMatrixPart)) break;
    const KPart part = of_split(split);
    for (const TileOffer& tile : tiles)
      offers.push_back(offer_of(tile, part));
  }
  return offers;
}

GemmOffer GemmPlanner::offer_of(const GemmTile& tile, std::int64_t split) const {
  return offer_of(of_tile(tile), of_split(split));
}

GemmPlanner::TileOffer GemmPlanner::of_tile(const GemmTile& tile) const {
  return {&tile, loss_at(tile, operand_, pairs_up(shape_.dtype, gpu_)),
          shape_.batch * ceil_div(shape_.m, tile.m) * ceil_div(shape_.n, tile.n)};
}

GemmPlanner::KPart GemmPlanner::of_split(std::int64_t split) const {
  return {split, ceil_div(shape_.k, split), split > 1 ? reduction(static_cast<double>(split)) : Seconds{}};
}

GemmOffer GemmPlanner::offer_of(const TileOffer& of, const KPart& part) const {
  const GemmTile& tile = *of.tile;
  GemmOffer offer;
  offer.tile = &tile;
  offer.split = part.split;
  offer.k_of_work_group = ceil_div(part.k, tile.k) * tile.k;
  offer.work_groups = of.results * part.split;
  offer.loss = of.loss;
  offer.reduction = part.reduction;
  const auto m = static_cast<double>(tile.m);
  const auto n = static_cast<double>(tile.n);
  const auto k = static_cast<double>(offer.k_of_work_group);
  offer.multiplying = Seconds{2.0 * m * n * (k + prologue_) / products_ * offer.loss * (1.0 + scaling_)};
  const double steps = k * std::min(1.0, element_) / kStepsOfK;  // two of fp4 are a byte
  offer.stepping = Seconds{steps * coefficients_.step_cycles / clock_};
  return offer;
}

std::span<const std::int64_t> GemmPlanner::splits() const {
  if (shape_.batch > 1) return std::span(kMatrixSplits).first(1);
  return on_vectors_ ? std::span<const std::int64_t>(kVectorSplits)
                     : std::span<const std::int64_t>(kMatrixSplits);
}

/// Of matrix kernels for rows that begin at odd multiples of 2 B a library has one size: 128 x 128 (`align1` in
/// the names of kernels in AMD-AGI/TraceLens commit 171dd747, traces of H100; assumed of others).
bool GemmPlanner::is_offered(const GemmTile& tile) const {
  constexpr double kNarrowest = 4.0 / 16.0;
  if (on_vectors_ || width_ >= kNarrowest || !has_square_) return true;
  return is_square(tile);
}

/// What fills matrix units is bytes of K, whatever their type: `prologue_k` is for 16 bits.
double GemmPlanner::prologue() const {
  constexpr double kReference = 2.0;  // bytes
  return coefficients_.prologue_k * (on_vectors_ ? 1.0 : kReference / element_);
}

double GemmPlanner::slower_alone(double loss) const {
  const double lanes = on_vectors_ ? products_per_clock(rate_, gpu_) / kReferenceLanes : 1.0;
  return std::sqrt(lanes * lanes + loss * loss - 1.0) / loss;
}

GemmPlan GemmPlanner::plan_of(const GemmOffer& offer) const {
  const GemmTile& tile = *offer.tile;
  GemmPlan plan;
  plan.tile = tile;
  plan.split = offer.split;
  plan.k_of_work_group = offer.k_of_work_group;
  plan.work_groups = offer.work_groups;
  plan.reduction = offer.reduction;
  const auto m = static_cast<double>(tile.m);
  const auto n = static_cast<double>(tile.n);
  const auto k = static_cast<double>(plan.k_of_work_group);
  // With a cluster, each of its work groups fetches its part of the longer panel for all.
  const double a_step = m * a_element_;
  const double b_step = n * b_element_;
  const double longer = std::max(a_step, b_step);
  const int sharing = on_vectors_ ? 1 : gpu_.library_kernels.gemm_cluster;  // multicast feeds matrix units
  plan.l2_loads = Bytes{k * (a_step + b_step - longer * (1.0 - 1.0 / sharing))};
  double loading = plan.l2_loads.value / (clock_ * coefficients_.l2_bytes_per_clock);
  if (width_ < 1.0) {  // narrow loads, and stores as narrow
    const double stored = m * n * result_ / static_cast<double>(offer.split);
    loading = (loading + stored / (clock_ * coefficients_.l2_bytes_per_clock)) / width_;
  }
  const double multiplying = offer.multiplying.value;
  plan.arithmetic = Seconds{norm(multiplying, loading) * chosen_ * layout_};
  const double alone = norm(multiplying * slower_alone(offer.loss), loading) * chosen_ * layout_ *
                       coefficients_.saturating_waves / tile.waves;
  plan.least = std::max(Seconds{alone}, offer.stepping);
  plan.band = band_of(plan);
  plan.launch = Seconds{coefficients_.launch_cycles / clock_};
  return plan;
}

/// Kernels of NVIDIA's matrix units swizzle their grid so that a wave is a near-square block of the output;
/// those of its vector units go along the rows of the output first. AMD's go down its columns (assumed).
std::int64_t GemmPlanner::band_of(const GemmPlan& plan) const {
  if (gpu_.family.gemm_order == GemmOrder::columns) return 1;
  const std::int64_t columns = ceil_div(shape_.n, plan.tile.n);
  if (on_vectors_) return columns;
  const double tiles = std::min<double>(gpu_.compute.cus(), static_cast<double>(plan.work_groups));
  const double square = std::sqrt(tiles * static_cast<double>(plan.tile.m) / static_cast<double>(plan.tile.n));
  return std::clamp<std::int64_t>(std::llround(square), 1, columns);
}

/// The parts are written and read back through the caches, at twice HBM's rate.
Seconds GemmPlanner::reduction(double split) const {
  const double outputs =
      static_cast<double>(shape_.batch) * static_cast<double>(shape_.m) * static_cast<double>(shape_.n);
  const double parts = split * outputs * kAccumulator + outputs * result_;
  return Seconds{coefficients_.split_us * 1e-6 + coefficients_.split_cycles / clock_ +
                 parts / (2.0 * gpu_.hbm.read.value)};
}

GemmPlan plan_by(const GemmShape& shape, const GpuSpec& gpu, const LibraryGemm& kernel) {
  const std::int64_t least_part = std::min(shape.k, kernel.depth_k);
  const std::int64_t split = std::clamp<std::int64_t>(kernel.split, 1, shape.k / least_part);
  const GemmPlanner planner(shape, gpu);
  const GemmTile tile = tile_of(kernel, tiles_for(shape, gpu));
  return planner.plan_of(planner.offer_of(tile, split));
}

}}  // namespace c3::gpu
