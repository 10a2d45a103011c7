#pragma once
/// Composes a training step of blocks, passes and collectives.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gpu/kernels/vector/vector_shape.hpp"
#include "workloads/program/program_family.hpp"
#include "workloads/training/data_parallel.hpp"
#include "workloads/training/model_blocks.hpp"
#include "workloads/training/step_program.hpp"

namespace c3::inline workloads {

class StepComposer {
 public:
  StepComposer(const TrainingSetup& setup, int ranks);
  WrittenStep compose();

 private:
  using Tensor = MemoryLedger::Tensor;
  /// A part's tensor that its backward pass needs.
  struct Kept {
    PartId part;
    Tensor tensor;
  };
  /// One block of one micro-batch between its passes.
  struct BlockState {
    std::vector<Kept> kept = {};
    std::optional<Tensor> input = {};
  };
  /// Of which kernels outputs are kept, and which run.
  enum class Keeping {
    all,        ///< what the backward pass needs
    survivors,  ///< what the recomputation does not make again
    rest,       ///< what it does make again
  };

  void micro_batch(std::int64_t index);
  void end_pass();
  void forward_pass();
  void backward_pass();
  void optimizer();

  void forward_block(const BlockKernels& block, BlockState& state, bool recomputed);
  void backward_block(const BlockKernels& block, BlockState& state, bool recomputed);
  void recompute(const BlockKernels& block, BlockState& state);
  void run_parts(const std::vector<PartKernel>& kernels, Pass pass, Keeping keeping, BlockState* state);
  void run_part(std::span<const PartKernel> kernels, Pass pass, Keeping keeping, BlockState* state);
  std::vector<EventId> gather_tokens(PartId part, int chunks);
  /// Into which the tokens of all tensor-parallel ranks are gathered.
  Tensor gather_buffer();
  void reduce_tokens(PartId part, int chunks);
  void run_kernel(const PartKernel& kernel, Pass pass, Keeping keeping, BlockState* state, int chunks);
  void run_chunk(const PartKernel& kernel, int chunks);
  void loss_sums();
  void hold_output(const PartKernel& kernel);
  void release_outputs();
  void release_part(BlockState& state, PartId part);

  bool is_recomputed(std::int64_t layer) const;
  bool runs_again(const PartKernel& kernel) const;
  Bytes kept_bytes(const PartKernel& kernel, Keeping keeping) const;
  CollectiveCall tensor_call(CollectiveKind kind, Bytes bytes) const;
  Bytes hidden_bytes() const;  ///< of all tokens of a micro-batch
  Bytes stream_bytes() const;  ///< of what runs past the blocks on one rank
  void begin(const std::string& what, HostPass pass);

  const TrainingSetup& setup_;
  const int ranks_;
  ModelBlocks blocks_;
  StepProgram program_;
  StepProgram::Stream compute_;
  std::vector<ParameterUnit> units_;
  std::unique_ptr<DataParallel> data_parallel_;
  std::string micro_batch_;  ///< "micro-batch 3, ", or nothing where there is one
  BlockState embedding_state_, head_state_;
  std::vector<BlockState> layers_;
  std::vector<Tensor> outputs_;  ///< that nobody keeps, in use for now
  bool holds_outputs_ = false;   ///< until release_outputs(): logits, until there is a loss
  Flops model_flops_, hardware_flops_;
};

}  // namespace c3::workloads
