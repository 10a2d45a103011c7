#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "engine/errors.hpp"
#include "gpu/clock/governor.hpp"
#include "gpu/kernels/attention/attention_shape.hpp"
#include "gpu/kernels/checks.hpp"
#include "gpu/kernels/held_registers.hpp"
#include "gpu/kernels/index/index_shape.hpp"
#include "gpu/kernels/tiling.hpp"
#include "gpu/kernels/vector/vector_instructions.hpp"
#include "gpu/kernels/vector/vector_traffic.hpp"

namespace c3 { inline namespace gpu {
namespace {

constexpr double kOverlap = 3.0;  // of arithmetic and HBM, as attention's; assumed
constexpr int kProductWaves = 8, kSelectWaves = 32;
// Rows of a work group's tile: heads of as many queries as there is room for, where all queries see the same
// keys; else of one query.
constexpr std::int64_t kLogitRows = 128, kRowsOfOneQuery = 64;
// TileLang's topk_selector.py: a histogram of 256 bins, and two lists of 4,096 places.
constexpr Bytes kSelectLds{(2 * 4096 + 257) * 4.0};
constexpr Bytes kSelectRegisters{kSelectWaves * 32 * 32 * 4.0};
// A pass counts bins, another one takes what is above the threshold, with an atomic addition in shared memory
// for each score: to few addresses, since scores are alike in their first bits, so that they go one after
// another, one a cycle. Found from how much longer whole modules take on an H100 than without it
// (docs/models.md).
constexpr double kSelectPasses = 2, kAdditionCycles = 1;
// Of one row: sums over 256 bins in eight steps of two barriers, after the first pass and four radix rounds; 30
// cycles a barrier are assumed.
constexpr double kBarriers = 5 * 8 * 2, kBarrierCycles = 30;

double as_double(std::int64_t count) { return static_cast<double>(count); }

/// Vector instructions of a head's score, beside its product.
double instructions_of(IndexStage stage) {
  switch (stage) {
    case IndexStage::logits:
      return 2;  // ReLU, and a weighted sum
    case IndexStage::target:
      return 2;  // a difference, which is raised, and a sum
    case IndexStage::gradient:
      return 4;  // of both
    case IndexStage::select:
      break;
  }
  return 0;
}

/// Products of a query with a key, of one head: backward, scores are made again.
double products_of(IndexStage stage) {
  return stage == IndexStage::select ? 0.0 : stage == IndexStage::gradient ? 3.0 : 1.0;
}

void check(const std::string& name, const IndexShape& shape) {
  check_extents(name, {{"b", shape.batch},
                       {"heads", shape.heads},
                       {"seq", shape.queries},
                       {"kv_seq", shape.keys},
                       {"head_dim", shape.head_dim}});
  if (shape.stage != IndexStage::logits) check_extents(name, {{"selected", shape.selected}});
  if (shape.queries > shape.keys)
    throw InfeasibleError(
        fmt::format("'{}': seq {} cannot be above kv_seq {}", name, shape.queries, shape.keys));
}

/// Of a work group with a CU to itself.
Seconds product_time(const IndexShape& shape, const IndexCounts& counts, const MatrixRate& rate,
                     const GpuSpec& gpu) {
  const AttentionCoefficients& of = gpu.kernels.attention;
  const double pass = shape.stage == IndexStage::gradient ? of.backward_share : 1.0;
  const FlopsPerSecond of_cu = rate.peak * (of.share * pass / gpu.compute.cus());
  const double scores = counts.pairs * as_double(shape.heads) / counts.row_share;
  const Seconds issued{scores * instructions_of(shape.stage) / instructions_per_second(gpu)};
  const double exponentials = kExponentialsPerClock * gpu.compute.boost_clock.value * of.exp_share;
  const Seconds raised{shape.stage == IndexStage::target ? scores / exponentials : 0.0};
  const Seconds products = counts.flops / counts.row_share / of_cu;
  return std::max(products, issued + raised) / as_double(counts.work_groups);
}

void describe_products(KernelDescription& kernel, const IndexShape& shape, const IndexCounts& counts,
                       const GpuSpec& gpu) {
  const MatrixRate& rate = matrix_rate(gpu, shape.dtype);
  kernel.needs = {
      .lds = gpu.compute.lds_per_cu, .registers = held_registers(gpu, Bytes{}), .waves = kProductWaves};
  kernel.compute_time =
      Seconds{gpu.kernels.attention.work_group_us * 1e-6} + product_time(shape, counts, rate, gpu);
  kernel.clock = rate.clock;
  kernel.peak = rate.peak;
  kernel.flop_energy = flop_energy(shape.dtype);
}

void describe_choice(KernelDescription& kernel, const IndexCounts& counts, const GpuSpec& gpu) {
  kernel.needs = {.lds = kSelectLds, .registers = kSelectRegisters, .waves = kSelectWaves};
  kernel.compute_time = Seconds{counts.pairs * kSelectPasses * kAdditionCycles /
                                (as_double(counts.work_groups) * gpu.compute.boost_clock.value)};
  kernel.least_time = gpu.hbm.latency * kSelectPasses +
                      Seconds{kBarriers * kBarrierCycles / gpu.compute.boost_clock.value} + kernel.compute_time;
  kernel.clock = gpu.compute.boost_clock;
  kernel.peak = matrix_rate(gpu, DType::fp32).peak;
}

}  // namespace

IndexCounts counts_of(const IndexShape& shape) {
  const bool chooses = shape.stage == IndexStage::select,
             sees_all = chooses || shape.stage == IndexStage::logits;
  const Bytes element = element_size(shape.dtype), number = element_size(DType::fp32);
  const double queries = as_double(shape.batch) * as_double(shape.queries);
  const double heads = as_double(shape.heads), dim = as_double(shape.head_dim);
  IndexCounts counts;
  counts.pairs =
      as_double(shape.batch) * causal_pairs(shape.queries, shape.keys, sees_all ? 0 : shape.selected);
  if (chooses) {
    counts.work_groups = shape.batch * shape.queries;
    counts.read = number * counts.pairs;
    counts.again = counts.read * (kSelectPasses - 1.0);
    counts.written = number * (queries * as_double(std::min(shape.selected, shape.keys)));
    return counts;
  }
  counts.flops = Flops{2.0 * products_of(shape.stage) * counts.pairs * heads * dim};
  const std::int64_t of_query = ceil_div(shape.heads, kRowsOfOneQuery);
  const std::int64_t together = sees_all ? std::max<std::int64_t>(kLogitRows / shape.heads, 1) : 1;
  counts.work_groups = shape.batch * ceil_div(shape.queries, together) * (sees_all ? 1 : of_query);
  if (!sees_all) counts.row_share = heads / as_double(of_query * kRowsOfOneQuery);
  const Bytes of_keys = element * (as_double(shape.batch) * as_double(shape.keys) * dim);
  const Bytes of_queries = element * (queries * heads * dim);
  counts.read = of_queries + of_keys + number * (queries * heads);
  // Gradients of keys are added up in fp32, key by key of each query.
  const bool adds = shape.stage == IndexStage::gradient;
  const double sets_of_keys = sees_all ? 1.0 / as_double(together) : as_double(of_query);
  counts.again = (element + (adds ? number : Bytes{})) * (counts.pairs * dim * sets_of_keys);
  counts.written = adds ? of_queries + of_keys : number * counts.pairs;
  return counts;
}

KernelDescription describe_index(std::string name, const IndexShape& shape, const GpuSpec& gpu) {
  check(name, shape);
  const IndexCounts counts = counts_of(shape);
  const auto work_groups = as_double(counts.work_groups);
  KernelDescription kernel;
  kernel.name = std::move(name);
  kernel.work_groups = counts.work_groups;
  if (shape.stage == IndexStage::select)
    describe_choice(kernel, counts, gpu);
  else
    describe_products(kernel, shape, counts, gpu);
  kernel.overlap = kOverlap;
  kernel.flops = counts.flops / counts.row_share / work_groups;
  kernel.useful_flops = counts.flops;
  kernel.outstanding = counts.read / work_groups;
  kernel.output = counts.written / work_groups;
  kernel.compulsory = counts.read + counts.written;
  kernel.traffic = std::make_shared<VectorTraffic>(
      VectorTraffic::Loads{.once = counts.read / work_groups,
                           .again = counts.again / work_groups,
                           .tensors = counts.read,
                           .l2_kept = 1.0,  // keys of a sequence, and a row of scores that was just read
                           .sharpness = gpu.kernels.vector.miss_sharpness});
  check_fits(kernel, gpu);
  return kernel;
}

}}  // namespace c3::gpu
