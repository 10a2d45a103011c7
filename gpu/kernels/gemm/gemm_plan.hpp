#pragma once
/// Tiles and splits of K that a library has for a product, and what follows from each; which of them a product
/// gets: gemm_choice.hpp.

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/library_kernels.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace gpu {

/// A tile, a split of K, and what follows from them.
struct GemmPlan {
  GemmTile tile;
  std::int64_t split = 1;
  std::int64_t work_groups = 1;
  std::int64_t band = 1;             ///< columns of tiles that the grid goes down together; 1: rows fastest
  std::int64_t k_of_work_group = 1;  ///< padded to whole steps
  Seconds arithmetic;  ///< of one work group with a CU to itself: products, operands from LDS and L2, filling
                       ///< and draining
  Seconds least;       ///< of one work group: too few wavefronts, or steps that wait for one another
  Seconds reduction;   ///< adding the parts of a split K
  Bytes l2_loads;      ///< of one work group
  Seconds launch;      ///< of one call alone as measured on the device; 0: not measured there
};

/// The tiles that the library of \p gpu has for \p shape.
std::span<const GemmTile> tiles_for(const GemmShape& shape, const GpuSpec& gpu);

/// Whether vector units compute products of \p dtype: fp32 where matrix units do not.
bool on_vector_units(DType dtype, const GpuSpec& gpu);

/// The coefficients of \p shape's class, by the units that compute it.
const GemmCoefficients& coefficients_for(const GemmShape& shape, const GpuSpec& gpu);

/// What fetching operands costs beside multiplying them: sqrt(1 + (c/A)^2) for a tile of m x n, A = m n / (m +
/// n), with c the class's `operand` scaled by the CU's multiplications a clock, because staging does not grow
/// with them.
double operand_loss(const GemmTile& tile, DType dtype, const GpuSpec& gpu);

/// The smallest operand_loss of the tiles that \p gpu has for \p dtype.
double least_operand_loss(DType dtype, const GpuSpec& gpu);

/// The plan of \p kernel, whose split is lowered until each part of K has a step. Its work groups have the
/// wavefronts of the GPU's tile of the same sides; else 4, or 1 for 256 results and fewer (rocBLAS's kernels
/// for matrix units). \throws as GemmPlanner
GemmPlan plan_by(const GemmShape& shape, const GpuSpec& gpu, const LibraryGemm& kernel);

/// A tile and a split of K, before it is known what holds its work groups up: what a plan says at little cost.
struct GemmOffer {
  const GemmTile* tile = nullptr;
  std::int64_t split = 1, k_of_work_group = 1, work_groups = 1;  ///< as GemmPlan's
  double loss = 1.0;                                             ///< operand_loss of the tile
  Seconds multiplying;  ///< of one work group, as if nothing were loaded and any kernel were the best
  Seconds stepping;     ///< the same whose steps do nothing but wait for one another
  Seconds reduction;    ///< as GemmPlan's
};

/// Makes the plans of one product.
class GemmPlanner {
 public:
  /// \p shape and \p gpu must outlive it. \throws InfeasibleError without the data type or tiles.
  GemmPlanner(const GemmShape& shape, const GpuSpec& gpu);

  /// Each of the GPU's tiles with each split of K that a library would consider, at least one.
  std::vector<GemmOffer> offers() const;
  /// One of a tile, which must outlive it, and a split, whether or not a library would consider them.
  GemmOffer offer_of(const GemmTile& tile, std::int64_t split) const;
  GemmPlan plan_of(const GemmOffer& offer) const;
  /// No less than this is GemmPlan::arithmetic of plan_of(offer).
  Seconds least_arithmetic(const GemmOffer& offer) const { return offer.multiplying * chosen_ * layout_; }

 private:
  /// What offers of one tile have in common.
  struct TileOffer {
    const GemmTile* tile;
    double loss;
    std::int64_t results;  ///< tiles of them
  };
  /// What offers of one split have in common.
  struct KPart {
    std::int64_t split, k;
    Seconds reduction;
  };

  TileOffer of_tile(const GemmTile& tile) const;
  KPart of_split(std::int64_t split) const;
  GemmOffer offer_of(const TileOffer& of, const KPart& part) const;
  std::span<const std::int64_t> splits() const;
  bool is_offered(const GemmTile& tile) const;
  double prologue() const;
  /// How much longer multiplying takes for a wavefront that keeps as many lanes busy as the reference has: more
  /// lanes wait for it, but staging its operands, which makes a product \p loss times as long, takes no longer.
  double slower_alone(double loss) const;
  std::int64_t band_of(const GemmPlan& plan) const;
  Seconds reduction(double split) const;

  const GemmShape& shape_;
  const GpuSpec& gpu_;
  const MatrixRate& rate_;
  const GemmCoefficients& coefficients_;
  bool on_vectors_;               ///< whether vector units compute it
  double operand_;                ///< elements
  double clock_;                  ///< Hz
  double products_;               ///< flop/s of one CU on tiles without end
  double element_;                ///< bytes of an operand's
  double a_element_, b_element_;  ///< the same with its part of the scales
  double result_;                 ///< bytes of C's
  double scaling_;                ///< time of scaling over that of multiplying
  double width_;                  ///< of a load, in 16 B
  double prologue_;               ///< steps of K
  double chosen_, layout_;        ///< how much longer products take for the choice of a kernel and their layout
  bool has_square_;               ///< whether there is a tile of 128 x 128
};

}}  // namespace c3::gpu
