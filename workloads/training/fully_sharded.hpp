#pragma once
/// Parameters that are gathered for as long as their unit runs (FSDP, ZeRO-3).

#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "workloads/training/data_parallel.hpp"

namespace c3::inline workloads {

/// As PyTorch's fully_shard does it. Forward, the gather of a unit may run when the unit before the one before
/// it has been copied out of its buffer (Framework::prefetch = 1; with 2 there is one buffer more); backward,
/// the next units' are launched when a unit's has been waited for, and may run when that has been copied out. A
/// unit's gradients are cast into one buffer and scattered behind the backward pass of the next, which waits
/// for the one before. Unit 0 stays gathered, and so does the last layer between its passes. Wrong when: a unit
/// has frozen parameters; gradients are reduced only once for several micro-batches.
class FullyShardedParameters final : public DataParallel {
 public:
  FullyShardedParameters(const TrainingSetup& setup, std::vector<ParameterUnit> units, DataParallelGroup group,
                         StepProgram& program);

  void begin_step() override;
  void before_forward(std::size_t unit) override;
  void after_forward(std::size_t unit) override;
  void before_backward(std::size_t unit) override;
  void after_backward(std::size_t unit) override;
  void end_backward() override;
  std::int64_t updated(std::size_t unit) const override { return shard(unit); }

 private:
  using Tensor = MemoryLedger::Tensor;
  struct Unit {
    std::optional<EventId> gathered = {};   ///< event, while a gather is to be waited for
    std::optional<Tensor> buffer = {};      ///< into which it is gathered
    std::optional<Tensor> parameters = {};  ///< while it can run
    std::optional<Tensor> gradients = {};   ///< of this rank's own tokens
  };
  struct CopiedOut {
    EventId done = 0;
    Tensor buffer;
  };
  struct Reduction {
    EventId done = 0;
    Tensor input;
  };

  std::int64_t padded(std::size_t unit) const { return shard(unit) * group_.size; }
  bool stays(std::size_t unit) const;
  void gather(std::size_t unit);
  void follow(StepProgram::Stream stream);
  /// Keeps so many buffers of units that have been copied out for as long as that takes.
  void copy_out(std::size_t unit, int buffers);
  void release_buffers(int but);
  void reshard(std::size_t unit);
  void release(std::optional<Tensor>& tensor);
  void finish_reduction();

  StepProgram::Stream gathers_, reductions_;
  std::vector<Unit> state_;
  std::deque<CopiedOut> copied_out_;  ///< units whose buffers are in use
  std::optional<EventId> room_;       ///< event for which the next gather waits
  std::vector<bool> has_gradient_shard_;
  std::optional<std::pair<StepProgram::Stream, EventId>> last_collective_;  ///< and the event after it
  std::optional<Reduction> reduction_;                                      ///< in flight
};

}  // namespace c3::workloads
