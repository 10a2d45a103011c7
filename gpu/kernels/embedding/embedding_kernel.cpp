#include "gpu/kernels/embedding/embedding_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "engine/errors.hpp"
#include "gpu/kernels/checks.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"

namespace c3 { inline namespace gpu {
namespace {

constexpr double kSector = 32.0;         // bytes that a load fetches at least
constexpr double kIndex = 8.0;           // bytes
constexpr double kOffset = 8.0;          // of a bag
constexpr double kSorted = 12.0;         // of a sorted lookup: a row's number, and where it came from
constexpr double kWeight = 4.0;          // of a lookup
constexpr double kWavefronts = 4.0;      // of a work group
constexpr double kThreads = 32.0;        // of a wavefront
constexpr double kRegisters = 40 * 4.0;  // bytes of a thread
// Assumed: loads of rows that a wavefront has in flight, and lane instructions for each element of a row.
constexpr double kRowsInFlight = 4.0;
constexpr double kElementOps = 4.0;
constexpr double kOverlap = 8.0;  // as of other kernels that stream

/// Lookups of the tables that a kernel goes through, one after another.
struct Gather {
  RowReuse reuse;
  double lookups = 0;  ///< of one table
  Bytes row;
  Bytes streamed;  ///< that passes through the caches with each lookup
  double per_work_group = 0;
  double in_table = 0;  ///< work groups of one table
};

/// Share of the lookups that miss a cache of \p capacity which \p parts of the GPU share the lookups of.
double miss_share(const Gather& gather, const CacheState& state, Bytes capacity, BytesPerSecond intruder,
                  double parts) {
  if (gather.lookups <= 0.0 || gather.per_work_group <= 0.0) return 1.0;
  const double resident = static_cast<double>(state.resident);
  const double under_way = std::max(1.0, resident / gather.in_table);
  const double looked_up = resident * gather.per_work_group / parts;
  const Bytes intruding = intruder * state.work_group_time / looked_up;
  const double lookups = gather.lookups / parts;
  return gather.reuse.misses(lookups, capacity / under_way, gather.row, gather.streamed + intruding) / lookups;
}

/// Bytes of a kernel that looks rows up, beside what it streams.
class GatherTraffic final : public TrafficModel {
 public:
  /// \param streamed of a work group. \param writes_rows whether rows that were fetched are written back
  GatherTraffic(Gather gather, Bytes streamed, bool writes_rows)
      : gather_(std::move(gather)), streamed_(streamed), writes_rows_(writes_rows) {}

  Traffic per_work_group(const CacheState& state) const override {
    const auto xcds = static_cast<double>(state.xcds);
    const Bytes gathered = gather_.row * gather_.per_work_group;
    const double at_l2 = miss_share(gather_, state, state.l2_size, state.l2_intruder, xcds);
    const double at_llc = std::min(at_l2, miss_share(gather_, state, state.llc_size, state.llc_intruder, 1.0));
    Traffic traffic;
    traffic.l2 = streamed_ + gathered;
    traffic.llc = streamed_ + gathered * at_l2;
    traffic.hbm = streamed_ + gathered * at_llc;
    traffic.stores_to_hbm = writes_rows_ ? at_llc : 1.0;
    return traffic;
  }

 private:
  Gather gather_;
  Bytes streamed_;
  bool writes_rows_;
};

double lookups_of_table(const EmbeddingShape& shape) {
  return static_cast<double>(shape.bags) * static_cast<double>(shape.lookups);
}

double own_lookups(const EmbeddingShape& shape) {
  return lookups_of_table(shape) * static_cast<double>(shape.tables);
}

double share_of_hbm(Bytes row) {
  if (row.value <= 128.0) return 1.0 / 1.55;
  return row.value <= 256.0 ? 1.0 / 1.1 : 1.0;
}

/// Completes \p kernel, of which each of \p wavefronts goes through \p rows rows.
void finish(KernelDescription& kernel, const EmbeddingShape& shape, const GpuSpec& gpu, double rows) {
  const double lanes =
      matrix_rate(gpu, DType::fp32).peak.value / (2.0 * gpu.compute.cus());  // a second, of a CU
  const double padded = std::ceil(static_cast<double>(shape.cols) / kThreads) * kThreads;
  kernel.needs = {.lds = {},
                  .registers = Bytes{kWavefronts * kThreads * kRegisters},
                  .waves = static_cast<int>(kWavefronts)};
  kernel.compute_time = Seconds{kWavefronts * rows * padded * kElementOps / lanes};
  kernel.least_time = gpu.hbm.latency * std::ceil(rows / kRowsInFlight);
  kernel.outstanding = row_bytes(shape) * (kWavefronts * std::min(rows, kRowsInFlight));
  kernel.overlap = kOverlap;
  kernel.hbm_share = share_of_hbm(row_bytes(shape));
  kernel.clock = gpu.compute.boost_clock;
  kernel.peak = matrix_rate(gpu, DType::fp32).peak;
  kernel.useful_flops = Flops{own_lookups(shape) * static_cast<double>(shape.cols)};
  kernel.flops = kernel.useful_flops / static_cast<double>(kernel.work_groups);
}

/// A wavefront a bag: the sums, or the update of each lookup's row.
void describe_bags(KernelDescription& kernel, const EmbeddingShape& shape, const GpuSpec& gpu) {
  const bool forward = shape.pass == Pass::forward;
  const auto lookups = static_cast<double>(shape.lookups);
  const double in_table = std::ceil(static_cast<double>(shape.bags) / kWavefronts);
  kernel.work_groups = static_cast<std::int64_t>(in_table) * shape.tables;
  const double bags = static_cast<double>(shape.bags) / in_table;  // of a work group, on average
  const Bytes row = row_bytes(shape);
  const double of_lookup = kIndex + (shape.is_weighted ? kWeight : 0.0);
  const Bytes read = Bytes{bags * (lookups * of_lookup + kOffset)} + row * (forward ? 0.0 : bags);
  kernel.output = row * (forward ? bags : bags * lookups);
  const Bytes passing = (read + (forward ? kernel.output : Bytes{})) / (bags * lookups);
  const RowReuse reuse = reuse_of(shape);
  const double distinct = reuse.distinct(lookups_of_table(shape));
  const auto work_groups = static_cast<double>(kernel.work_groups);
  kernel.compulsory = read * work_groups +
                      row * (distinct * static_cast<double>(shape.tables) * (forward ? 1.0 : 2.0)) +
                      (forward ? kernel.output * work_groups : Bytes{});
  finish(kernel, shape, gpu, lookups);
  kernel.traffic = std::make_shared<GatherTraffic>(
      Gather{reuse, lookups_of_table(shape), row, passing, bags * lookups, in_table}, read, !forward);
}

/// A wavefront for each row that was looked up: adds up its gradients, then changes it.
void describe_exact(KernelDescription& kernel, const EmbeddingShape& shape, const GpuSpec& gpu) {
  const double lookups = lookups_of_table(shape);
  const double distinct = std::max(1.0, reuse_of(shape).distinct(lookups));
  const double in_table = std::ceil(distinct / kWavefronts);
  kernel.work_groups = static_cast<std::int64_t>(in_table) * shape.tables;
  const double rows = distinct / in_table;  // of a work group, on average
  const double uses = lookups / distinct;   // of a row
  const Bytes row = row_bytes(shape);
  const Bytes moment{shape.update == RowUpdate::exact_rowwise_adagrad ? kSector : 0.0};
  const double of_lookup = kSorted + (shape.is_weighted ? kWeight : 0.0);
  const Bytes read = (row + moment) * rows + Bytes{rows * uses * of_lookup};
  kernel.output = (row + moment) * rows;
  const RowReuse bags(shape.bags);  // of whose gradients every lookup reads one
  const auto work_groups = static_cast<double>(kernel.work_groups);
  kernel.compulsory =
      (read + kernel.output) * work_groups + row * (bags.distinct(lookups) * static_cast<double>(shape.tables));
  finish(kernel, shape, gpu, uses);
  kernel.traffic = std::make_shared<GatherTraffic>(
      Gather{bags, lookups, row, (read + kernel.output) / (rows * uses), rows * uses, in_table}, read, false);
}

void check(const std::string& name, const EmbeddingShape& shape) {
  check_extents(name, {{"b", shape.bags},
                       {"tables", shape.tables},
                       {"rows", shape.rows},
                       {"cols", shape.cols},
                       {"lookups", shape.lookups}});
}

/// Its own tables, without others.
KernelDescription describe_own(KernelDescription kernel, const EmbeddingShape& shape, const GpuSpec& gpu) {
  const bool by_row = shape.pass == Pass::backward && is_exact(shape.update);
  by_row ? describe_exact(kernel, shape, gpu) : describe_bags(kernel, shape, gpu);
  return kernel;
}

/// Mean work group of several kernels, each with its share of them.
class MixedTraffic final : public TrafficModel {
 public:
  void add(double share, std::shared_ptr<const TrafficModel> of, Bytes output) {
    parts_.push_back({share, std::move(of), output});
  }
  Traffic per_work_group(const CacheState& state) const override {
    Traffic sum;
    Bytes stored, to_hbm;
    for (const Part& part : parts_) {
      const Traffic its = part.traffic->per_work_group(state);
      sum.l2 += its.l2 * part.share;
      sum.llc += its.llc * part.share;
      sum.hbm += its.hbm * part.share;
      sum.found += its.found * part.share;
      stored += part.output * part.share;
      to_hbm += part.output * (part.share * its.stores_to_hbm);
    }
    sum.stores_to_hbm = stored.value > 0.0 ? to_hbm / stored : 1.0;
    return sum;
  }

 private:
  struct Part {
    double share = 0;  ///< of the work groups
    std::shared_ptr<const TrafficModel> traffic;
    Bytes output;  ///< of one of its work groups
  };
  std::vector<Part> parts_;
};

/// One kernel with the work groups of all of \p kernels.
KernelDescription joined(const std::vector<KernelDescription>& kernels) {
  if (kernels.size() == 1) return kernels.front();
  KernelDescription all = kernels.front();
  double work_groups = 0;
  for (const KernelDescription& kernel : kernels)
    work_groups += static_cast<double>(kernel.work_groups);
  auto traffic = std::make_shared<MixedTraffic>();
  all.work_groups = 0;
  all.flops = all.useful_flops = {};
  all.compute_time = all.least_time = {};
  all.output = all.outstanding = all.compulsory = {};
  double slower = 0;
  for (const KernelDescription& kernel : kernels) {
    const double share = static_cast<double>(kernel.work_groups) / work_groups;
    all.work_groups += kernel.work_groups;
    all.compute_time += kernel.compute_time * share;
    all.least_time = std::max(all.least_time, kernel.least_time);
    all.output += kernel.output * share;
    all.outstanding += kernel.outstanding * share;
    all.compulsory += kernel.compulsory;
    all.flops += kernel.flops * share;
    all.useful_flops += kernel.useful_flops;
    slower += kernel.compulsory.value / kernel.hbm_share;
    traffic->add(share, kernel.traffic, kernel.output);
  }
  all.hbm_share = all.compulsory.value / slower;
  all.traffic = std::move(traffic);
  return all;
}

}  // namespace

RowReuse reuse_of(const EmbeddingShape& shape) {
  if (shape.reuse == ReuseProfile::uniform) return RowReuse(shape.rows);
  return RowReuse(shape.reuse == ReuseProfile::custom ? shape.histogram : histogram_of_2021(), shape.rows);
}

double all_lookups(const EmbeddingShape& shape) {
  double sum = own_lookups(shape);
  for (const EmbeddingShape& other : shape.others)
    sum += all_lookups(other);
  return sum;
}

Bytes row_bytes(const EmbeddingShape& shape) {
  return Bytes{std::ceil(element_size(shape.dtype).value * static_cast<double>(shape.cols) / kSector) *
               kSector};
}

Bytes table_bytes(const EmbeddingShape& shape) {
  const double moment = shape.update == RowUpdate::exact_rowwise_adagrad ? 4.0 : 0.0;
  const double row = element_size(shape.dtype).value * static_cast<double>(shape.cols) + moment;
  Bytes sum{row * static_cast<double>(shape.rows) * static_cast<double>(shape.tables) * shape.resident};
  for (const EmbeddingShape& other : shape.others)
    sum += table_bytes(other);
  return sum;
}

Operator embedding_sort_pass(const EmbeddingShape& shape) {
  return VectorShape{.chain = VectorOp::copy,
                     .rows = std::max<std::int64_t>(1, std::llround(all_lookups(shape))),
                     .cols = 3,  // of 4 bytes
                     .dtype = DType::fp32};
}

int embedding_sort_passes(const EmbeddingShape& shape) {
  constexpr double kBits = 8.0;
  double rows = static_cast<double>(shape.rows) * static_cast<double>(shape.tables);
  for (const EmbeddingShape& other : shape.others)
    rows += static_cast<double>(other.rows) * static_cast<double>(other.tables);
  return static_cast<int>(std::max(1.0, std::ceil(std::log2(std::max(rows, 2.0)) / kBits)));
}

KernelDescription describe_embedding(std::string name, const EmbeddingShape& shape, const GpuSpec& gpu) {
  check(name, shape);
  if (table_bytes(shape) > gpu.hbm.size) {
    throw InfeasibleError(fmt::format("'{}': its tables take {:.1f} GB, and gpu '{}' has {:.1f} GB", name,
                                      table_bytes(shape).value / 1e9, gpu.name, gpu.hbm.size.value / 1e9));
  }
  KernelDescription kernel;
  kernel.name = name;
  std::vector<KernelDescription> kernels = {describe_own(kernel, shape, gpu)};
  for (const EmbeddingShape& other : shape.others) {
    check(name, other);
    kernels.push_back(describe_own(kernel, other, gpu));
  }
  kernel = joined(kernels);
  check_fits(kernel, gpu);
  return kernel;
}

}}  // namespace c3::gpu
