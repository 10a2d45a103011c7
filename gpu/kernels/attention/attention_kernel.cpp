#include "gpu/kernels/attention/attention_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/errors.hpp"
#include "gpu/clock/governor.hpp"
#include "gpu/kernels/checks.hpp"
#include "gpu/kernels/held_registers.hpp"
#include "gpu/kernels/tiling.hpp"
#include "gpu/kernels/vector/vector_instructions.hpp"

namespace c3 { inline namespace gpu {
namespace {

constexpr double kOverlap = 3.0;  // of arithmetic and HBM, assumed
constexpr int kWavesPerWorkGroup = 8;

/// Queries of a work group and keys of one of its steps.
struct Tile {
  std::int64_t queries, keys;
};

/// Rows that the queries of a sequence take beside the keys of one head, when all query heads that share these
/// are packed.
std::int64_t packed_rows(const AttentionShape& shape) { return shape.queries * (shape.heads / shape.kv_heads); }

/// Queries beside cached keys. Without these the tiles are those with which the coefficients were fitted.
bool decodes(const AttentionShape& shape) { return shape.pass == Pass::forward && shape.keys > shape.queries; }

/// Instructions that take their operands from shared memory, for four warps at once, work on larger tiles than
/// those of a single warp (flash attention 2 and 3), if there are rows for two such groups of warps
/// (flash-attention hopper/heuristics.h: use_one_mma_wg, of heads of 64 and 128; assumed of others). Where each
/// query has keys of its own, its heads are the rows of a tile (FlashMLA csrc/sm90/prefill/sparse/config.h: B_H
/// and B_TOPK).
Tile tile_of(const AttentionShape& shape, MatrixOperands operands) {
  constexpr std::int64_t kRowsOfOneGroup = 64;
  if (shape.selected > 0) return {64, 64};
  if (operands == MatrixOperands::registers) return {64, 32};
  const bool is_small = decodes(shape) && packed_rows(shape) <= kRowsOfOneGroup;
  return {is_small ? kRowsOfOneGroup : 128, 128};
}

/// Work groups, and how many share the keys of one sequence and head.
struct Grid {
  std::int64_t work_groups = 1;
  std::int64_t parts = 1;
};

/// Keys that any query sees.
std::int64_t seen_keys(const AttentionShape& shape) {
  return shape.window > 0 ? std::min(shape.keys, shape.window + shape.queries - 1) : shape.keys;
}

/// Into how many parts the \p steps of keys are split that each of \p tiles takes, as FlashAttention 2 and 3
/// and Composable Kernel choose them: one where the tiles occupy nearly all CUs, else the fewest with which
/// nearly as many of the CUs work as at best. A number of parts that makes none of them shorter is passed over.
std::int64_t parts_of_keys(std::int64_t tiles, std::int64_t steps, int cus) {
  constexpr double kNearlyAll = 0.8, kNearlyAsMany = 0.85;
  constexpr std::int64_t kMostParts = 128;
  const auto all = static_cast<double>(cus);
  if (static_cast<double>(tiles) >= kNearlyAll * all) return 1;
  const auto working = [&](std::int64_t parts) {  // share of the CUs, over all waves
    const bool is_shorter = parts == 1 || ceil_div(steps, parts) != ceil_div(steps, parts - 1);
    return is_shorter
               ? static_cast<double>(tiles * parts) / (all * static_cast<double>(ceil_div(tiles * parts, cus)))
               : 0.0;
  };
  const std::int64_t most = std::min({kMostParts, static_cast<std::int64_t>(cus), steps});
  double best = 0.0;
  for (std::int64_t parts = 1; parts <= most; ++parts)
    best = std::max(best, working(parts));
  std::int64_t parts = 1;
  while (working(parts) < kNearlyAsMany * best)
    ++parts;
  return parts;
}

/// One work group a tile of queries. Of few queries (decoding), all heads that share keys are packed into one
/// tile, and the keys are split.
Grid grid_of(const AttentionShape& shape, const Tile& tile, int cus) {
  if (shape.selected > 0)
    return {shape.batch * shape.queries * shape.kv_heads * ceil_div(shape.heads / shape.kv_heads, tile.queries),
            1};
  const bool is_packed = decodes(shape) && packed_rows(shape) <= tile.queries;
  if (!is_packed) return {shape.batch * shape.heads * ceil_div(shape.queries, tile.queries), 1};
  const std::int64_t whole = shape.batch * shape.kv_heads;
  const std::int64_t parts = parts_of_keys(whole, ceil_div(seen_keys(shape), tile.keys), cus);
  return {whole * parts, parts};
}

/// Steps that work groups take through the keys.
struct Steps {
  double mean = 0;
  double longest = 0;
};
Steps steps_of(const AttentionShape& shape, const Tile& tile) {
  if (shape.selected > 0) {
    const double pairs = causal_pairs(shape.queries, shape.keys, shape.selected);
    const double mean = pairs / static_cast<double>(shape.queries * tile.keys);
    const auto whole = static_cast<double>(ceil_div(std::min(shape.selected, shape.keys), tile.keys));
    return {std::min(mean + 0.5, whole), whole};  // half of the last step is empty
  }
  const std::int64_t tiles = ceil_div(shape.queries, tile.queries);
  const std::int64_t all = ceil_div(shape.keys, tile.keys);
  if (!shape.causal) return {static_cast<double>(all), static_cast<double>(all)};
  const std::int64_t before = shape.keys - shape.queries;  // keys that every query sees
  double sum = 0;
  std::int64_t longest = 0;
  for (std::int64_t i = 0; i < tiles; ++i) {
    const std::int64_t end = before + std::min((i + 1) * tile.queries, shape.queries);
    const std::int64_t first = before + i * tile.queries + 1 - shape.window;  // of its first query's window
    const std::int64_t steps =
        ceil_div(end, tile.keys) - (shape.window > 0 ? std::max<std::int64_t>(first, 0) / tile.keys : 0);
    sum += static_cast<double>(steps);
    longest = std::max(longest, steps);
  }
  return {sum / static_cast<double>(tiles), static_cast<double>(longest)};
}

/// At which one after another of \p shape's products runs on all of \p gpu.
FlopsPerSecond product_rate(const AttentionShape& shape, const MatrixRate& rate, const GpuSpec& gpu) {
  const AttentionCoefficients& of = gpu.kernels.attention;
  const double pass = shape.pass == Pass::backward ? of.backward_share : 1.0;
  if (shape.dtype == DType::fp32) return rate.sustained * pass;
  const bool is_newest = shape.kernel == AttentionKernel::newest || shape.kernel == AttentionKernel::cudnn;
  const double kernel = is_newest ? 1.0 : of.flash2_share;
  return rate.peak * (of.share * kernel * pass);
}

bool is_cudnn_forward(const AttentionShape& shape) {
  return shape.kernel == AttentionKernel::cudnn && shape.pass == Pass::forward;
}

/// cuDNN's forward pass neither rotates nor writes keys to a cache, as the calls do that the passes over Q, K
/// and V were measured on; nor does sparse attention.
bool is_bare(const AttentionShape& shape) { return shape.selected > 0 || is_cudnn_forward(shape); }

/// Of FlashAttention-2's, products and exponentials alike: the algorithm before it made more of both and of
/// what goes through shared memory (arXiv 2307.08691, section 3). Of the newest kernel's, of cuDNN's.
double rate_of_kernel(const AttentionShape& shape, const AttentionCoefficients& of) {
  if (is_cudnn_forward(shape)) return of.cudnn_rate;
  if (shape.kernel == AttentionKernel::flash1) return of.flash1_rate;
  return shape.kernel == AttentionKernel::triton ? of.triton_rate : 1.0;
}

/// A query with a key on one CU: its products, then its exponential. Vector units have no share of their own
/// for attention: they do no better than in a large GEMM.
Seconds time_of_pair(const AttentionShape& shape, const MatrixRate& rate, const GpuSpec& gpu) {
  const AttentionCoefficients& of = gpu.kernels.attention;
  const Flops flops{2.0 * products_of_pair(shape)};
  const double exponentials = kExponentialsPerClock * gpu.compute.boost_clock.value * of.exp_share;  // 1/s
  const Seconds pair =
      flops / (product_rate(shape, rate, gpu) / gpu.compute.cus()) + Seconds{1.0 / exponentials};
  return pair / rate_of_kernel(shape, of);
}

/// Results of parts of the keys, in fp32 with a sum and a maximum each, are written and read back through the
/// caches, at twice HBM's rate, by a kernel of its own, which starts like the one that adds a split product's.
Seconds time_to_combine(const AttentionShape& shape, const Grid& grid, const GpuSpec& gpu) {
  if (grid.parts == 1) return {};
  const auto rows = static_cast<double>(grid.parts * shape.batch * shape.queries * shape.heads);
  const Bytes stored = element_size(DType::fp32) * (rows * static_cast<double>(shape.value_width() + 2));
  return Seconds{gpu.kernels.matrix_gemm.split_cycles / gpu.compute.boost_clock.value} +
         2.0 * stored / (2.0 * gpu.hbm.read);
}

/// Of queries and results.
double mean_dim(const AttentionShape& shape) {
  return 0.5 * static_cast<double>(shape.head_dim + shape.value_width());
}

/// Keys and values stream through L2, once for the query heads that share them when they run together.
class AttentionTraffic final : public TrafficModel {
 public:
  AttentionTraffic(Bytes query, Bytes streamed, Bytes first_touch)
      : query_(query), streamed_(streamed), first_touch_(first_touch) {}
  Traffic per_work_group(const CacheState&) const override {
    Traffic traffic;
    traffic.l2 = query_ + streamed_;
    traffic.hbm = std::min(query_ + first_touch_, traffic.l2);
    traffic.llc = traffic.hbm;
    return traffic;
  }

 private:
  Bytes query_, streamed_, first_touch_;
};

void check(const std::string& name, const AttentionShape& shape) {
  check_extents(name, {{"b", shape.batch},
                       {"heads", shape.heads},
                       {"kv_heads", shape.kv_heads},
                       {"seq", shape.queries},
                       {"kv_seq", shape.keys},
                       {"head_dim", shape.head_dim},
                       {"value_dim", shape.value_width()}});
  if (shape.heads % shape.kv_heads != 0) {
    throw InfeasibleError(
        fmt::format("'{}': kv_heads {} must divide heads {}", name, shape.kv_heads, shape.heads));
  }
  if (shape.causal && shape.queries > shape.keys) {
    throw InfeasibleError(
        fmt::format("'{}': causal, so seq {} cannot be above kv_seq {}", name, shape.queries, shape.keys));
  }
}

}  // namespace

KernelDescription describe_attention(std::string name, const AttentionShape& shape, const GpuSpec& gpu) {
  check(name, shape);
  const MatrixRate& rate = matrix_rate(gpu, shape.dtype);
  const AttentionCoefficients& coefficients = gpu.kernels.attention;
  const bool forward = shape.pass == Pass::forward;
  const Tile tile = tile_of(shape, gpu.family.matrix_operands);
  const Grid grid = grid_of(shape, tile, gpu.compute.cus());
  const Steps whole = steps_of(shape, tile);
  const auto parts = static_cast<double>(grid.parts);
  const Steps steps{whole.mean / parts, whole.longest / parts};
  const auto heads = static_cast<double>(shape.heads);
  const auto kv_heads = static_cast<double>(shape.kv_heads);
  const auto head_dim = static_cast<double>(shape.head_dim);
  const auto tile_pairs = static_cast<double>(tile.queries * tile.keys);
  const double products = products_of_pair(shape) / head_dim;
  const Seconds step = time_of_pair(shape, rate, gpu) * tile_pairs;

  // One head's queries of all sequences: of results where those have another width, as many bytes on average,
  // since there is one of the latter for each of the former. One head's keys with their values.
  const Bytes element = element_size(shape.dtype);
  const double mean = mean_dim(shape);
  const Bytes query_head = element * (static_cast<double>(shape.batch * shape.queries) * mean);
  const auto key_width = static_cast<double>(shape.key_width());
  const Bytes key_head = element * (static_cast<double>(shape.batch * seen_keys(shape)) * key_width);
  const double q_tensors = forward ? 1.0 : 3.0;   // backward: Q, O and its gradient
  const double kv_written = forward ? 0.0 : 1.0;  // gradients of K and V; of Q there is one, as there is one O

  KernelDescription kernel;
  kernel.name = std::move(name);
  kernel.work_groups = grid.work_groups;
  const auto work_groups = static_cast<double>(kernel.work_groups);
  kernel.needs = {
      .lds = gpu.compute.lds_per_cu, .registers = held_registers(gpu, Bytes{}), .waves = kWavesPerWorkGroup};
  kernel.compute_time = Seconds{coefficients.work_group_us * 1e-6} + step * steps.mean;
  // The last work groups are the longest, and nothing is left to run beside them.
  const BytesPerSecond hbm = gpu.hbm.read * coefficients.hbm_share;
  const std::int64_t fresh = std::min(shape.queries, shape.keys);  // cached ones are in place
  const Bytes new_keys = element * (static_cast<double>(shape.batch * fresh) * key_width);
  const Bytes passes =
      query_head * (coefficients.query_passes * heads) + new_keys * (coefficients.key_passes * kv_heads);
  const Bytes exposed = is_bare(shape) ? Bytes{} : passes;
  kernel.overhead = step * (steps.longest - steps.mean) + exposed / hbm + time_to_combine(shape, grid, gpu);
  kernel.clock = rate.clock;
  kernel.overlap = kOverlap;
  kernel.hbm_share = coefficients.hbm_share;
  kernel.flops = Flops{products * 2.0 * head_dim * tile_pairs * steps.mean};
  kernel.outstanding = element * (static_cast<double>(tile.keys) * key_width);
  const Bytes written = forward ? element * (static_cast<double>(shape.batch * shape.queries) *
                                             static_cast<double>(shape.value_width()))
                                : element * (static_cast<double>(shape.batch * shape.queries) * head_dim);
  kernel.output = (written * heads + key_head * (kv_written * kv_heads)) / work_groups;
  kernel.call = CallKind::attention;
  kernel.peak = rate.peak;
  if (shape.dtype != DType::fp32) kernel.flop_energy = flop_energy(shape.dtype);
  kernel.useful_flops = Flops{2.0 * visible_pairs(shape) * static_cast<double>(shape.batch * shape.heads) *
                              products_of_pair(shape)};
  kernel.compulsory = query_head * ((q_tensors + 1.0) * heads) + key_head * ((1.0 + kv_written) * kv_heads);
  // Backward, each query adds to the gradients of its own keys, in fp32 (TileLang's sparse_mla_bwd.py).
  const Bytes added = shape.selected > 0 && !forward ? element_size(DType::fp32) : Bytes{};
  const Bytes streamed = (element + added) * (static_cast<double>(tile.keys) * key_width * steps.mean);
  kernel.traffic = std::make_shared<AttentionTraffic>(query_head * (q_tensors * heads) / work_groups, streamed,
                                                      key_head * kv_heads / work_groups);
  check_fits(kernel, gpu);
  return kernel;
}

}}  // namespace c3::gpu
