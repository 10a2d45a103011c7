#pragma once
/// Parameters that every rank has, whose gradients are summed in buckets (DDP, ZeRO-1 and ZeRO-2).

#include <optional>
#include <string>
#include <vector>

#include "workloads/training/data_parallel.hpp"

namespace c3 {

/// A bucket is reduced as soon as enough gradients are ready, or after the backward pass where the framework
/// does not overlap. With ZeRO every rank gets its part of the sums, updates it, and all gather the parameters.
/// DDP and ZeRO-1 sum once a step, ZeRO-2 for each micro-batch. Gradients of later
/// micro-batches are added tensor by tensor. Wrong when: gradients of one layer are ready long before the
/// others', since a layer's are taken as ready together.
class GradientBuckets final : public DataParallel {
 public:
  GradientBuckets(const TrainingSetup& setup, std::vector<ParameterUnit> units, DataParallelGroup group,
                  StepProgram& program);

  void begin_step() override;
  void before_backward(std::size_t unit) override;
  void after_backward(std::size_t unit) override;
  void end_backward() override;
  void after_optimizer() override;
  std::int64_t updated(std::size_t unit) const override;

 private:
  bool is_sharded() const { return setup_.sharding != Sharding::none; }
  bool keeps_all_gradients() const { return setup_.sharding != Sharding::gradients; }
  bool reduces() const { return group_.size > 1 && (is_last_ || !keeps_all_gradients()); }
  void reduce_full_buckets();
  void reduce(std::int64_t count);
  std::int64_t capacity() const;  ///< of the next bucket, in numbers
  std::int64_t all() const;

  StepProgram::Stream reductions_;
  std::vector<std::optional<MemoryLedger::Tensor>> gradients_;  ///< by unit; of ZeRO-2
  std::int64_t ready_ = 0;                                      ///< numbers that no bucket has taken
  int buckets_ = 0;                                             ///< of this micro-batch
  std::optional<std::string> reduced_;                          ///< event of the last bucket
};

}  // namespace c3
