#include "gpu/kernels/scan/scan_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "gpu/kernels/tiling.hpp"

namespace c3 { inline namespace gpu {
namespace {

using enum ScanStage;
using Tensors = ScanTensors;
constexpr ScanRule kDelta = ScanRule::gated_delta;
constexpr ScanRule kMamba = ScanRule::mamba2;
constexpr ScanGrid kChunks = ScanGrid::chunks;
constexpr ScanGrid kGroups = ScanGrid::groups;
constexpr ScanGrid kSequences = ScanGrid::sequences;

/// Of values, in one work group of the kernels that go through the chunks (BV of chunk_delta_h.py, the smaller
/// of its choices).
constexpr std::int64_t kValueBlock = 32;
/// Elements of a state in one work group of `passing` (BLOCK_SIZE of ssd_state_passing.py, of 64 to 2,048).
constexpr std::int64_t kStateBlock = 512;
/// A chunk's matrix is inverted in blocks: four on the diagonal (BC of chunk_fwd.py, 16 of 64).
constexpr std::int64_t kDiagonalBlocks = 4;
constexpr std::int64_t kKnownRows = 2;  ///< of a block, before the first that is substituted

// Products counted in the kernels' sources, named in the comments. Masks do not shorten products but where the
// source skips whole blocks: 10 of the 16 of `inverse`, and about half of what lies above mamba2's diagonal.
constexpr auto kTable = std::to_array<ScanWork>({
    // fla/modules/l2norm.py: l2norm_fwd, l2norm_bwd (which takes the normed tensor and the gradient).
    {kDelta, norm, kGroups, {}, 0, Tensors{.keys = 1}, Tensors{.keys = 1}},
    {kDelta, norm_gradient, kGroups, {}, 0, Tensors{.keys = 2}, Tensors{.keys = 1}},
    // fla/ops/utils/cumsum.py: chunk_local_cumsum_scalar.
    {kDelta, cumsum, kChunks, {}, 0, Tensors{.scalars = 1}, Tensors{.scalars = 1}},
    // fla/ops/gated_delta_rule/chunk_fwd.py: 10 blocks of K K^T, then 16 products of blocks of a quarter chunk
    // that join the inverses on the diagonal.
    {kDelta,
     inverse,
     kChunks,
     {.cck = 0.625, .ccc = 0.25},
     0.625,
     Tensors{.keys = 1, .scalars = 2},
     Tensors{.squares = 0.625},
     0,
     true},
    // wy_fast.py: recompute_w_u_fwd.
    {kDelta,
     rows,
     kChunks,
     {.cck = 1, .ccv = 1},
     0,
     Tensors{.keys = 1, .values = 1, .squares = 1, .scalars = 2},
     Tensors{.head_keys = 1, .values = 1}},
    // fla/ops/common/chunk_delta_h.py: chunk_gated_delta_rule_fwd_h, and _bwd_dhu below.
    {kDelta,
     states,
     kSequences,
     {.ckv = 2},
     0,
     Tensors{.keys = 1, .head_keys = 1, .values = 1, .scalars = 1},
     Tensors{.values = 1, .states = 1},
     2},
    // fla/ops/common/chunk_o.py: chunk_fwd_o, and below chunk_bwd_dv_local and chunk_bwd_dqkwg.
    {kDelta,
     output,
     kChunks,
     {.ckv = 1, .cck = 1, .ccv = 1},
     1,
     Tensors{.keys = 2, .values = 1, .states = 1, .scalars = 1},
     Tensors{.values = 1}},
    {kDelta,
     value_gradient,
     kChunks,
     {.cck = 1, .ccv = 1},
     1,
     Tensors{.keys = 2, .values = 1, .scalars = 1},
     Tensors{.values = 1}},
    {kDelta,
     state_gradient,
     kSequences,
     {.ckv = 3},
     0,
     Tensors{.keys = 2, .head_keys = 1, .values = 2, .scalars = 1},
     Tensors{.values = 1, .states = 1},
     2},
    {kDelta,
     input_gradient,
     kChunks,
     {.ckv = 3, .cck = 3, .ccv = 1},
     1,
     Tensors{.keys = 2, .values = 3, .states = 2, .scalars = 1},
     Tensors{.head_keys = 3, .scalars = 1}},
    // wy_fast.py: prepare_wy_repr_bwd, which stores its part of dK, loads it and stores it again.
    {kDelta,
     row_gradient,
     kChunks,
     {.cck = 5, .ccv = 2, .ccc = 2},
     1,
     Tensors{.keys = 1, .head_keys = 2, .values = 2, .squares = 1, .scalars = 2},
     Tensors{.head_keys = 2, .values = 1, .scalars = 2}},
    // chunk.py: dk.add_(dk2), dg.add_(dg2).
    {kDelta, add, kChunks, {}, 0, Tensors{.head_keys = 2, .scalars = 2}, Tensors{.head_keys = 1, .scalars = 1}},

    // mamba_ssm/ops/triton/ssd_chunk_state.py: _chunk_cumsum_fwd and _bwd, _chunk_state_fwd,
    // _chunk_state_bwd_db.
    {kMamba, cumsum, kChunks, {}, 0, Tensors{.scalars = 1}, Tensors{.scalars = 2}},
    {kMamba,
     chunk_state,
     kChunks,
     {.ckv = 1},
     0,
     Tensors{.keys = 1, .values = 1, .scalars = 2},
     Tensors{.wide_states = 1}},
    // ssd_state_passing.py: _state_passing_fwd and _bwd (which also stores the states in the gradients' type).
    {kMamba, passing, kSequences, {}, 0, Tensors{.wide_states = 1}, Tensors{.states = 1}, 1},
    {kMamba, passing_gradient, kSequences, {}, 0, Tensors{.wide_states = 2}, Tensors{.states = 2}, 1},
    // ssd_bmm.py: _bmm_chunk_fwd (its products stay in fp32) and _bmm_chunk_bwd, which adds to what it loads.
    {kMamba, product, kGroups, {.cck = 1}, 0, Tensors{.keys = 2}, Tensors{.wide_squares = 1}},
    {kMamba,
     product_input,
     kGroups,
     {.cck = 1},
     0,
     Tensors{.keys = 1, .wide_keys = 1, .wide_squares = 1},
     Tensors{.keys = 1}},
    // ssd_chunk_scan.py: _chunk_scan_fwd, _bwd_dstates, _bwd_dC, _bwd_dcb, _bwd_ddAcs_stable; and
    // _chunk_scan_chunk_state_bwd_dx of ssd_combined.py.
    {kMamba,
     output,
     kChunks,
     {.ckv = 1, .ccv = 0.5},
     0.5,
     Tensors{.keys = 1, .values = 1, .wide_squares = 1, .states = 1, .scalars = 2},
     Tensors{.values = 1}},
    {kMamba,
     output_state,
     kChunks,
     {.ckv = 1},
     0,
     Tensors{.keys = 1, .values = 1, .scalars = 1},
     Tensors{.wide_states = 1}},
    {kMamba,
     value_gradient,
     kChunks,
     {.ckv = 1, .ccv = 0.5},
     0.5,
     Tensors{.keys = 1, .values = 2, .wide_squares = 1, .states = 1, .scalars = 2},
     Tensors{.values = 1, .scalars = 1}},
    {kMamba,
     key_gradient,
     kChunks,
     {.ckv = 1},
     0,
     Tensors{.keys = 1, .values = 1, .states = 1, .scalars = 2},
     Tensors{.wide_keys = 1, .scalars = 1}},
    {kMamba,
     query_gradient,
     kChunks,
     {.ckv = 1},
     0,
     Tensors{.keys = 1, .values = 1, .states = 1, .scalars = 1},
     Tensors{.wide_keys = 1, .scalars = 1}},
    {kMamba,
     product_gradient,
     kChunks,
     {.ccv = 0.5},
     0.5,
     Tensors{.values = 2, .scalars = 2},
     Tensors{.wide_squares = 1}},
    {kMamba,
     decay_gradient,
     kChunks,
     {.ccv = 0.5},
     0.5,
     Tensors{.values = 2, .wide_squares = 1, .scalars = 2},
     Tensors{.scalars = 1}},
    {kMamba, cumsum_gradient, kChunks, {}, 0, Tensors{.scalars = 5}, Tensors{.scalars = 1}},
});

constexpr std::array kDeltaForward = {norm, norm, cumsum, inverse, rows, states, output};
constexpr std::array kDeltaBackward = {rows,         states, value_gradient, state_gradient, input_gradient,
                                       row_gradient, add,    cumsum,         norm_gradient,  norm_gradient};
constexpr std::array kMambaForward = {cumsum, chunk_state, passing, product, output};
constexpr std::array kMambaBackward = {cumsum,         product,          chunk_state,    passing,
                                       output_state,   passing_gradient, value_gradient, key_gradient,
                                       query_gradient, product_gradient, product_input,  product_input,
                                       decay_gradient, cumsum_gradient};

double as_double(std::int64_t count) { return static_cast<double>(count); }

/// Sizes that all counts are made of.
struct Extents {
  double sequences, heads, key_heads, tokens, chunks, c, k, v;  ///< tokens, chunks: of a sequence
};
Extents extents_of(const ScanShape& of) {
  return {as_double(of.batch),
          as_double(of.heads),
          as_double(of.key_heads),
          as_double(of.length),
          as_double(ceil_div(of.length, of.chunk)),
          as_double(of.chunk),
          as_double(of.key_dim),
          as_double(of.value_dim)};
}

/// Elements of \p of in 16 bits, and those in fp32.
struct Elements {
  double narrow, wide;
};
Elements elements_of(const ScanTensors& of, const Extents& size) {
  const double head_tokens = size.sequences * size.heads * size.tokens;
  const double key_tokens = size.sequences * size.key_heads * size.tokens;
  const double state = size.sequences * size.heads * size.chunks * size.k * size.v;
  return {.narrow = of.keys * key_tokens * size.k +
                    head_tokens * (of.head_keys * size.k + of.values * size.v + of.squares * size.c) +
                    of.states * state,
          .wide = key_tokens * (of.wide_keys * size.k + of.wide_squares * size.c) + of.wide_states * state +
                  of.scalars * head_tokens};
}

Bytes bytes_of(const ScanTensors& of, const ScanShape& shape, const Extents& size) {
  const Elements elements = elements_of(of, size);
  return element_size(shape.dtype) * elements.narrow + element_size(DType::fp32) * elements.wide;
}

std::int64_t value_blocks(const ScanWork& work, const ScanShape& shape) {
  if (work.grid != ScanGrid::sequences) return 1;
  const bool has_products = work.products.ckv > 0;
  return has_products ? ceil_div(shape.value_dim, kValueBlock)
                      : ceil_div(shape.key_dim * shape.value_dim, kStateBlock);
}

/// What several work groups load of the same: of kernels by head, each head a key that others share; of those
/// by blocks of values, each block all keys.
Bytes shared_loads(const ScanWork& work, const ScanShape& shape, const Extents& size) {
  if (work.grid == ScanGrid::groups) return {};
  const double blocks = work.products.ckv > 0 ? as_double(value_blocks(work, shape)) : 1.0;
  const double sharing = size.heads / size.key_heads;
  const ScanTensors by_key{
      .keys = work.loads.keys, .wide_keys = work.loads.wide_keys, .wide_squares = work.loads.wide_squares};
  const ScanTensors by_head{.head_keys = work.loads.head_keys};
  return bytes_of(by_key, shape, size) * (sharing * blocks - 1.0) +
         bytes_of(by_head, shape, size) * (blocks - 1.0);
}

/// Rows that the work group of a chunk of so many \p tokens substitutes one after another.
std::int64_t substituted_rows(std::int64_t tokens, std::int64_t chunk) {
  const std::int64_t block = std::max<std::int64_t>(1, chunk / kDiagonalBlocks);
  std::int64_t rows = 0;
  for (std::int64_t first = 0; first < std::min(tokens, chunk); first += block)
    rows += std::max<std::int64_t>(0, std::min(block, tokens - first) - kKnownRows);
  return rows;
}

}  // namespace

std::span<const ScanStage> scan_stages(ScanRule rule, Pass pass) {
  const bool forward = pass == Pass::forward;
  if (rule == ScanRule::gated_delta)
    return forward ? std::span<const ScanStage>(kDeltaForward) : std::span<const ScanStage>(kDeltaBackward);
  return forward ? std::span<const ScanStage>(kMambaForward) : std::span<const ScanStage>(kMambaBackward);
}

std::int64_t usual_chunk(ScanRule rule) { return rule == ScanRule::gated_delta ? 64 : 256; }

const ScanWork& work_of(ScanRule rule, ScanStage stage) {
  const auto* const found =
      std::ranges::find_if(kTable, [&](const ScanWork& of) { return of.rule == rule && of.stage == stage; });
  if (found != kTable.end()) return *found;
  throw std::logic_error(fmt::format("work_of: {} has no kernel '{}'", c3::name_of(rule), c3::name_of(stage)));
}

ScanCounts counts_of(const ScanShape& shape) {
  const ScanWork& work = work_of(shape.rule, shape.stage);
  const Extents size = extents_of(shape);
  const bool in_turn = work.grid == ScanGrid::sequences;
  const std::int64_t chunks = ceil_div(shape.length, shape.chunk);
  const std::int64_t heads = work.grid == ScanGrid::groups ? shape.key_heads : shape.heads;
  const double parts = size.sequences * as_double(heads) * size.chunks;  // a chunk and head each
  const ScanProducts& of = work.products;
  const double multiplied =
      size.c * (of.ckv * size.k * size.v + size.c * (of.cck * size.k + of.ccv * size.v + of.ccc * size.c));
  const Elements loads = elements_of(work.loads, size);
  const Elements stores = elements_of(work.stores, size);
  ScanCounts counts;
  counts.work_groups = shape.batch * heads * (in_turn ? value_blocks(work, shape) : chunks);
  counts.steps = in_turn ? chunks : 1;
  counts.flops = Flops{2.0 * multiplied * parts};
  counts.vector_flops = stores.narrow + stores.wide;
  counts.exponentials = work.exponentials * size.c * size.c * parts;
  counts.elements = loads.narrow + loads.wide + stores.narrow + stores.wide;
  counts.rows = work.substitutes ? substituted_rows(shape.length, shape.chunk) : 0;
  counts.read = bytes_of(work.loads, shape, size);
  counts.read_again = shared_loads(work, shape, size);
  counts.written = bytes_of(work.stores, shape, size);
  if (in_turn && shape.state == ScanState::carried) {
    const Bytes states = element_size(DType::fp32) * (size.sequences * size.heads * size.k * size.v);
    counts.read += states;
    counts.written += states;
    counts.carried_loads = 1;
  }
  if (work.substitutes) counts.cleared = bytes_of({.squares = 1}, shape, size);
  return counts;
}

}}  // namespace c3::gpu
