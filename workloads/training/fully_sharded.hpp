#pragma once
/// Parameters that are gathered for as long as their unit runs (FSDP, ZeRO-3).

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "workloads/training/data_parallel.hpp"

namespace c3 {

/// As PyTorch's fully_shard does it. Forward, the gather of a unit may run when the unit before the one before
/// it has been copied out of its buffer; backward, the next unit's is launched when a unit's has been waited
/// for. A unit's gradients are cast into one buffer and scattered behind the backward pass of the next, which
/// waits for the one before. Unit 0 stays gathered, and so does the last layer between its passes.
/// Wrong when: a unit has frozen parameters; gradients are reduced only once for several micro-batches.
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
    std::optional<std::string> gathered = {};  ///< event, while a gather is to be waited for
    std::optional<Tensor> buffer = {};         ///< into which it is gathered
    std::optional<Tensor> parameters = {};     ///< while it can run
    std::optional<Tensor> gradients = {};      ///< of this rank's own tokens
  };
  struct Reduction {
    std::string done;  ///< event
    Tensor input;
  };

  std::int64_t padded(std::size_t unit) const { return shard(unit) * group_.size; }
  bool stays(std::size_t unit) const;
  /// \param ahead units that may be gathered before one of them has been copied out
  void gather(std::size_t unit, int ahead);
  void follow(StepProgram::Stream stream);
  void copy_out(std::size_t unit);
  void reshard(std::size_t unit);
  void release_buffer(std::optional<Tensor>& buffer);
  void finish_reduction();

  StepProgram::Stream gathers_, reductions_;
  std::vector<Unit> state_;
  std::vector<std::string> copied_out_;  ///< events, in order
  std::vector<bool> has_gradient_shard_;
  std::optional<Tensor> last_buffer_;  ///< which the next copy releases
  std::optional<std::pair<StepProgram::Stream, std::string>> last_collective_;  ///< and the event after it
  std::optional<Reduction> reduction_;                                          ///< in flight
};

}  // namespace c3
