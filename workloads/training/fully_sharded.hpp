#pragma once
/// Parameters that are gathered for as long as their unit runs (FSDP, ZeRO-3).

#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "workloads/training/data_parallel.hpp"

namespace c3 { inline namespace workloads {

/// What the units of one model have in flight together, whatever ranks each is divided among (PyTorch:
/// FSDPCommContext).
struct ShardedInFlight {
  using Tensor = MemoryLedger::Tensor;
  /// A buffer that has been read when an event has passed.
  struct ReadBuffer {
    EventId done = 0;
    Tensor buffer = 0;
    std::size_t launched = 0;  ///< operations of the compute stream, until then
  };
  struct Reduction {
    EventId done = 0;
    std::vector<Tensor> inputs = {};
  };

  std::deque<ReadBuffer> copied_out = {};   ///< of units that are being copied out
  std::optional<EventId> room = {};         ///< event for which the next gather waits
  std::optional<Reduction> reduction = {};  ///< the last one
};

/// Works like PyTorch's fully_shard. Forward, the gather of a unit may run when the unit before the one before
/// it has been copied out of its buffer (Framework::prefetch = 1; with 2 there is one buffer more); backward,
/// the next units' are launched when a unit's has been waited for, and may run when that has been copied out. A
/// unit's gradients are cast into one buffer and scattered behind the backward pass of the next, which waits
/// for the one before. Unit 0 stays gathered, and so does the last layer between its passes.
///
/// With Framework::flat_parameters it works like FullyShardedDataParallel (FSDP 1): parameters are views of the
/// buffer into which they are gathered, nothing is copied out, and gradients are cast on the stream that
/// reduces them. Only unit 0 stays, until its micro-batch ends. Tensors that another stream may still read are
/// let go: they are in the way as long as there is room. A unit's buffer is used again when the host knows that
/// it is free: with Framework::gathers_wait_on_host (`limit_all_gathers`) the host waits before each gather
/// until at most one freed buffer may still be read; else it has launched Framework::launch_queue more
/// operations, of which the oldest must have begun.
///
/// With replicas (HSDP) a shard of gradients is summed over them on a stream of its own, behind its reduction
/// and beside the next one; the optimizer waits for the sums.
///
/// Wrong when: gradients are reduced only once for several micro-batches.
class FullyShardedParameters final : public DataParallel {
 public:
  /// \param in_flight which several may share
  FullyShardedParameters(const TrainingSetup& setup, std::vector<ParameterUnit> units, DataParallelGroup group,
                         StepProgram& program, std::shared_ptr<ShardedInFlight> in_flight);

  void begin_step() override;
  /// Launches the gather of \p unit, unless it is gathered or on its way.
  void gather(std::size_t unit);
  void before_forward(std::size_t unit) override;
  void after_forward(std::size_t unit) override;
  void before_backward(std::size_t unit) override;
  /// Has \p unit's parameters for its backward pass, and gathers no other unit ahead.
  void unshard_backward(std::size_t unit);
  /// Has room for \p unit's gradients.
  void hold_gradients(std::size_t unit);
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
  using ReadBuffer = ShardedInFlight::ReadBuffer;

  std::int64_t padded(std::size_t unit) const { return shard(unit) * group_.size; }
  bool is_flat() const { return setup_.framework.flat_parameters; }
  bool stays(std::size_t unit) const;
  VectorShape cast_of_shard(std::size_t unit) const;
  void wait_for_room();
  void follow(StepProgram::Stream stream);
  /// Keeps so many buffers of units that have been copied out for as long as that takes.
  void copy_out(std::size_t unit, int buffers);
  void release_buffers(int but);
  void release_freed();
  void reshard(std::size_t unit);
  std::vector<Tensor> flat_inputs(std::size_t unit);
  std::vector<Tensor> copied_inputs(std::size_t unit);
  void release(std::optional<Tensor>& tensor);
  void finish_reduction(bool waits);
  void sum_shards(std::size_t unit);
  void keep_shard(StepProgram::Stream stream, std::size_t unit);

  StepProgram::Stream gathers_, reductions_, replicas_;
  std::vector<Unit> state_;
  std::shared_ptr<ShardedInFlight> in_flight_;
  std::deque<ReadBuffer> freed_;  ///< of flat parameters that are no longer needed
  std::vector<bool> has_gradient_shard_;
  std::optional<std::pair<StepProgram::Stream, EventId>> last_collective_;  ///< and the event after it
  std::optional<EventId> shards_summed_;  ///< after the last sum over replicas
};

}}  // namespace c3::workloads
