#pragma once
/// Parameters that every rank has, whose gradients are summed in buckets (DDP, ZeRO-1 and ZeRO-2).

#include <deque>
#include <optional>
#include <vector>

#include "workloads/training/data_parallel.hpp"
#include "workloads/training/parameter_gathers.hpp"

namespace c3 { inline namespace workloads {

/// A bucket is reduced as soon as enough gradients are ready, or after the backward pass where the framework
/// does not overlap. DDP copies sums back to the gradients; its buckets are there for the whole step where it
/// overlaps. With ZeRO every rank gets its part of the sums, updates it, and all gather the parameters. But for
/// DDP that overlaps there are two buckets, of which one is filled while the other is reduced. DDP and ZeRO-1
/// sum once a step, ZeRO-2 for each micro-batch. Where parameters are of another type than layers compute in, a
/// layer has a copy of its own in that type from its forward pass to its gradients (autocast). Gradients of
/// later micro-batches are added tensor by tensor.
///
/// A framework that reduces in place (Megatron-Core, megatron/core/distributed and
/// pipeline_parallel/schedules.py) has no memory for buckets, and only the optimizer waits for them; without
/// overlap all go at once. In a pipeline the first stage's first chunk is reduced by buckets, every other chunk
/// at once: a stage does so as many micro-batches after the chunk's last one as there are stages before it,
/// so that all begin together and no stage waits for another's reduction.
///
/// Groups of ranks can be replicas of each other (`replicas`): a bucket's shards are then summed over them
/// behind its reduction, on the same stream (Megatron-Core: num_distributed_optimizer_instances).
///
/// Wrong when: gradients of one layer are ready long before the others', since a layer's are taken as ready
/// together; those of the head are with the embedding's, ready last.
class GradientBuckets final : public DataParallel {
 public:
  /// \param chunks of the stage
  GradientBuckets(const TrainingSetup& setup, std::vector<ParameterUnit> units,
                  const std::vector<ChunkUnits>& chunks, DataParallelGroup group, StepProgram& program);

  void begin_step() override;
  void begin_forward(std::size_t number) override;
  void before_forward(std::size_t unit) override;
  void before_backward(std::size_t unit) override;
  void end_micro_batch() override;
  void after_backward(std::size_t unit) override;
  void end_backward() override;
  void after_optimizer() override;
  std::int64_t updated(std::size_t unit) const override;

 private:
  using Tensor = MemoryLedger::Tensor;
  struct Bucket {
    std::int64_t count = 0;
    EventId reduced = 0;
    std::optional<Tensor> memory = {};  ///< absent: there for the whole step
  };
  /// Gradients of a chunk that wait for other stages'.
  struct WaitingChunk {
    std::int64_t count = 0;
    int micro_batches = 0;  ///< passes of which come before
  };

  bool is_sharded() const { return setup_.sharding != Sharding::none; }
  bool keeps_all_gradients() const { return setup_.sharding != Sharding::gradients || group_.size == 1; }
  bool keeps_buckets() const { return !is_sharded() && setup_.framework.overlaps_gradients; }
  bool reduces_in_place() const { return setup_.framework.in_place_reduction && keeps_all_gradients(); }
  bool fills_buckets(int chunk) const { return !reduces_in_place() || (group_.stage == 0 && chunk == 0); }
  bool gathers_parameters() const { return is_sharded() && group_.size > 1; }
  void overlap_gathers(const std::vector<ChunkUnits>& chunks);
  ParameterGathers::Buckets buckets_of(int chunk, std::int64_t numbers) const;
  CollectiveCall gather_of(std::int64_t numbers) const;  ///< of parameters
  bool casts_parameters() const { return held_dtype() != setup_.dtype; }
  bool reduces() const { return group_.size > 1 && (is_last_ || !keeps_all_gradients()); }
  void accumulate(std::size_t unit, std::int64_t count, int tensors);
  void reduce_full_buckets();
  void reduce(std::int64_t count);
  void reduce_oldest_chunk();
  void finish_oldest();
  Bytes bucket_size(Bytes least) const;     ///< of gradients, for all data-parallel ranks
  std::int64_t capacity(int bucket) const;  ///< in numbers
  std::int64_t all() const;

  StepProgram::Stream reductions_;
  std::vector<std::optional<Tensor>> gradients_;  ///< by unit; of ZeRO-2
  /// Parameters in the type in which layers compute, by unit and micro-batch in flight.
  std::vector<std::deque<Tensor>> computed_;
  std::int64_t ready_ = 0;  ///< numbers that no bucket has taken
  std::deque<WaitingChunk> waiting_;
  int buckets_ = 0;  ///< of this micro-batch
  std::deque<Bucket> in_flight_;
  std::optional<ParameterGathers> gathers_;  ///< beside forward passes
};

}}  // namespace c3::workloads
