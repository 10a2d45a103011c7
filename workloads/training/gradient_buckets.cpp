#include "workloads/training/gradient_buckets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "gpu/kernels/vector/vector_shape.hpp"

namespace c3 { inline namespace workloads {

GradientBuckets::GradientBuckets(const TrainingSetup& setup, std::vector<ParameterUnit> units,
                                 const std::vector<ChunkUnits>& chunks, DataParallelGroup group,
                                 StepProgram& program)
    : DataParallel(setup, std::move(units), group, program),
      reductions_(group.size > 1 ? program.stream(group.streams + "gradients") : compute_),
      gradients_(units_.size()),
      computed_(units_.size()) {
  if (setup.parameter_gather != ParameterGather::after_optimizer && gathers_parameters())
    overlap_gathers(chunks);
}

void GradientBuckets::overlap_gathers(const std::vector<ChunkUnits>& chunks) {
  std::vector<ParameterGathers::Chunk> gathered;
  for (const ChunkUnits& of_stage : chunks) {
    ParameterGathers::Chunk chunk{.of_stage = of_stage};
    std::int64_t sum = 0;
    for (const std::size_t unit : of_stage.units) {
      chunk.numbers.push_back(units_[unit].parameters);
      sum += units_[unit].parameters;
    }
    chunk.buckets = buckets_of(static_cast<int>(gathered.size()), sum);
    gathered.push_back(std::move(chunk));
  }
  gathers_.emplace(
      setup_.parameter_gather == ParameterGather::aligned, group_.stage, gathered,
      [this](std::int64_t numbers) { return gather_of(numbers); }, program_,
      program_.stream(group_.streams + "all_gather"));
}

ParameterGathers::Buckets GradientBuckets::buckets_of(int chunk, std::int64_t numbers) const {
  ParameterGathers::Buckets buckets;
  if (!fills_buckets(chunk) && numbers > 0) return {numbers};
  for (int bucket = 0; numbers > 0; ++bucket) {
    buckets.push_back(std::min(numbers, capacity(bucket)));
    numbers -= buckets.back();
  }
  return buckets;
}

CollectiveCall GradientBuckets::gather_of(std::int64_t numbers) const {
  const auto padded = static_cast<double>((numbers + group_.size - 1) / group_.size * group_.size);
  const double share = static_cast<double>(cast_parameters()) / static_cast<double>(all());
  const Bytes cast{gathered_bytes_of_weight(setup_.precision, element_size(held_dtype())) * share * padded};
  return call(CollectiveKind::all_gather, element_size(held_dtype()) * ((1.0 - share) * padded) + cast);
}

std::int64_t GradientBuckets::updated(std::size_t unit) const {
  return is_sharded() ? shard(unit) : units_[unit].parameters;
}

std::int64_t GradientBuckets::all() const {
  std::int64_t sum = 0;
  for (const ParameterUnit& unit : units_)
    sum += unit.parameters;
  return sum;
}

void GradientBuckets::begin_step() {
  hold_states();
  const std::int64_t kept = keeps_all_gradients() ? all() : (all() + group_.size - 1) / group_.size;
  program_.memory().allocate(compute_, MemoryClass::gradients, keeps_all_gradients() ? "of layers" : "shards",
                             of_gradients(kept));
  if (group_.size > 1 && keeps_buckets() && !reduces_in_place())
    program_.memory().allocate(compute_, MemoryClass::communication, "buckets", of_gradients(all()));
  if (gathers_) gathers_->begin_step();
}

void GradientBuckets::begin_forward(std::size_t number) {
  if (gathers_) gathers_->begin_forward(number);
}

void GradientBuckets::before_forward(std::size_t unit) {
  if (gathers_) gathers_->before_forward(unit);
  const std::int64_t count = units_[unit].parameters;
  if (!casts_parameters() || count == 0) return;
  computed_[unit].push_back(program_.memory().allocate(compute_, MemoryClass::weights,
                                                       "parameters that compute", of_parameters(count)));
  program_.kernel(compute_, units_[unit].name + " cast", cast(count, held_dtype()));
}

void GradientBuckets::before_backward(std::size_t unit) {
  if (keeps_all_gradients() || units_[unit].parameters == 0) return;
  gradients_[unit] = program_.memory().allocate(compute_, MemoryClass::gradients, "of layers",
                                                of_gradients(units_[unit].parameters));
}

void GradientBuckets::after_backward(std::size_t unit) {
  const std::string& name = units_[unit].name;
  const std::int64_t count = units_[unit].parameters;
  if (count == 0) return;                     // all frozen
  if (setup_.framework.fused_accumulation) {  // each time, also to zeros
    accumulate(unit, count - units_[unit].product_parameters,
               units_[unit].tensors - units_[unit].product_tensors);
  } else if (!is_first_ && keeps_all_gradients()) {
    accumulate(unit, count, units_[unit].tensors);
  } else if (setup_.framework.gradient_dtype != setup_.dtype) {
    cast_gradients(compute_, name + " cast gradients", count);
  }
  if (!computed_[unit].empty()) {
    program_.memory().release(computed_[unit].front());
    computed_[unit].pop_front();
  }
  if (!reduces()) return;
  ready_ += count;
  if (setup_.framework.overlaps_gradients && fills_buckets(chunk_)) reduce_full_buckets();
  if (gradients_[unit]) program_.memory().release(*std::exchange(gradients_[unit], std::nullopt));
}

// One after another, of equal sizes.
void GradientBuckets::accumulate(std::size_t unit, std::int64_t count, int tensors) {
  for (int tensor = 0; tensor < tensors; ++tensor)
    gradient_kernel(compute_, units_[unit].name + " accumulate", VectorOp::add, count / tensors);
}

// Megatron-Core (distributed_data_parallel.py) keeps the chunks of rings long enough at any scale. Experts have
// fewer replicas, but buckets of the same size.
Bytes GradientBuckets::bucket_size(Bytes least) const {
  return std::max(least, setup_.framework.per_rank_bucket * group_.bucket_ranks);
}

std::int64_t GradientBuckets::capacity(int bucket) const {
  const Bytes bytes = bucket_size(bucket == 0 ? setup_.framework.first_bucket : setup_.framework.bucket);
  return std::max<std::int64_t>(
      1, static_cast<std::int64_t>(bytes / element_size(setup_.framework.gradient_dtype)));
}

void GradientBuckets::reduce_full_buckets() {
  for (std::int64_t count = capacity(buckets_); ready_ >= count; count = capacity(buckets_)) {
    ready_ -= count;
    reduce(count);
  }
}

void GradientBuckets::end_micro_batch() {
  if (!setup_.framework.overlaps_gradients) return;
  for (WaitingChunk& chunk : waiting_)
    --chunk.micro_batches;
  if (reduces() && is_last_ && !fills_buckets(chunk_) && ready_ > 0)
    waiting_.push_back({std::exchange(ready_, 0), group_.stage});
  while (!waiting_.empty() && waiting_.front().micro_batches == 0)
    reduce_oldest_chunk();
}

void GradientBuckets::reduce_oldest_chunk() {
  reduce(waiting_.front().count);
  waiting_.pop_front();
}

// Copied together and divided by the number of ranks, in one go; or divided where they are.
void GradientBuckets::reduce(std::int64_t count) {
  constexpr std::size_t kBuckets = 2;
  Bucket bucket{.count = count, .reduced = 0};
  if (!keeps_buckets() && !reduces_in_place()) {
    if (in_flight_.size() == kBuckets) finish_oldest();
    bucket.memory =
        program_.memory().allocate(compute_, MemoryClass::communication, "buckets", of_gradients(count));
  }
  const std::string name = fmt::format("bucket {}", buckets_++);
  gradient_kernel(compute_, name + (reduces_in_place() ? " scale" : " copy in"), VectorOp::mul_scalar, count);
  program_.order(compute_, reductions_, name + " ready");
  const CollectiveKind kind = is_sharded() ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
  const std::int64_t padded = (count + group_.size - 1) / group_.size * group_.size;
  program_.collective(reductions_, fmt::format("{} {}", name, name_of(kind)), call(kind, of_gradients(padded)));
  if (has_replicas())
    program_.collective(reductions_, name + " all_reduce", sum_over_replicas(padded / group_.size));
  if (!is_first_ && !keeps_all_gradients())
    gradient_kernel(reductions_, name + " accumulate", VectorOp::add, padded / group_.size);
  bucket.reduced = program_.record(reductions_, name + " reduced");
  in_flight_.push_back(std::move(bucket));
}

void GradientBuckets::finish_oldest() {
  const Bucket& bucket = in_flight_.front();
  program_.wait(compute_, bucket.reduced);
  if (!is_sharded() && !reduces_in_place()) gradient_kernel(compute_, "copy out", VectorOp::copy, bucket.count);
  if (bucket.memory) program_.memory().release(*bucket.memory);
  in_flight_.pop_front();
}

void GradientBuckets::end_backward() {
  while (!waiting_.empty())
    reduce_oldest_chunk();
  if (reduces()) {
    if (!reduces_in_place()) reduce_full_buckets();
    if (ready_ > 0) reduce(std::exchange(ready_, 0));
  }
  while (!in_flight_.empty())
    finish_oldest();
  buckets_ = 0;
}

void GradientBuckets::after_optimizer() {
  if (!gathers_parameters() || gathers_) return;
  const auto gathers = program_.stream(group_.streams + "all_gather");
  program_.order(compute_, gathers, "parameters updated");
  const std::int64_t most = std::max<std::int64_t>(
      group_.size,
      static_cast<std::int64_t>(bucket_size(setup_.framework.bucket) / element_size(held_dtype())));
  for (std::int64_t left = all(); left > 0; left -= most) {
    program_.collective(gathers, "parameters all_gather", gather_of(std::min(left, most)));
  }
  program_.order(gathers, compute_, "parameters gathered");
}

}}  // namespace c3::workloads
