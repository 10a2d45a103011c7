#pragma once
/// Composes what one rank does in a training step, of blocks, passes and collectives.

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gpu/kernels/vector/vector_shape.hpp"
#include "workloads/training/data_parallel.hpp"
#include "workloads/training/expert_exchange.hpp"
#include "workloads/training/model_blocks.hpp"
#include "workloads/training/rank_grid.hpp"
#include "workloads/training/stage_layers.hpp"
#include "workloads/training/stage_messages.hpp"
#include "workloads/training/step_program.hpp"
#include "workloads/training/tensor_parallel.hpp"

namespace c3 { inline namespace workloads {

/// The part of the step that is composed: of a pipeline one stage, else all.
struct StepStage {
  int number = 0;
  std::vector<StageChunk> chunks;  ///< in the order of their numbers
  bool sums_embedding = false;     ///< with the other end of the pipeline, which has the same weights
  ExpertPosition experts = {};     ///< of its ranks, where experts are not equally busy
  std::int64_t left_out = 0;       ///< micro-batches, in the middle of the others

  bool has_embedding() const { return std::ranges::any_of(chunks, &StageChunk::embedding); }
  bool has_head() const { return std::ranges::any_of(chunks, &StageChunk::head); }
};

/// What is known of one GPU of a stage before it is simulated.
struct StepStageFacts {
  std::map<DType, TypedFlops> flops;  ///< with those of what is left out
  MemoryPeak memory;
  MemoryLedger ledger;      ///< of which it is the peak
  bool is_settled = false;  ///< whether leaving periods out changes nothing, see MemoryLedger::Account
};

class StepComposer {
 public:
  /// All references must outlive it.
  StepComposer(const TrainingSetup& setup, const RankGrid& grid, const PipelineSchedule& schedule,
               StepStage stage, StepCommunicators over, StepProgram& program);
  StepStageFacts compose();

 private:
  using Tensor = MemoryLedger::Tensor;
  /// A part's tensor that its backward pass needs.
  struct Kept {
    PartId part;
    Tensor tensor;
  };
  /// What the host's memory has of a layer.
  struct Away {
    PartId part;
    Bytes bytes;
    bool is_input = false;  ///< of the layer, and no part's
  };
  /// One block of one micro-batch between its passes.
  struct BlockState {
    std::vector<Kept> kept = {};
    std::optional<Tensor> input = {};
    std::vector<Away> away = {};
    std::optional<EventId> reloaded = {};  ///< after which what was away is back
  };
  /// What is being copied to the host, and the event after which its memory is free.
  struct Offloaded {
    EventId copied = 0;
    std::vector<Tensor> tensors;
  };
  /// One chunk of one micro-batch between its passes.
  struct ChunkState {
    BlockState embedding, head;
    std::vector<BlockState> layers;
  };
  /// One of two passes that run in turns.
  struct Turn {
    std::string micro_batch = {};      ///< "micro-batch 3, ", or nothing where there is one
    std::vector<Tensor> outputs = {};  ///< that nobody keeps, in use for now
    std::unique_ptr<ExpertExchange> exchange = nullptr;
    std::size_t unit = 0;  ///< of parameters, of the layer that runs
    Pass pass = Pass::forward;
  };
  /// The kernels whose outputs are kept, and which run.
  enum class Keeping {
    all,        ///< what the backward pass needs
    survivors,  ///< what the recomputation does not make again
    rest,       ///< what it does make again
  };

  void run(const PipelineTask& task);
  void run_pair(const PipelineTask& forward, const PipelineTask& backward);
  void run_layers(const PipelineTask& forward, std::optional<std::int64_t> ahead, const PipelineTask& backward,
                  std::optional<std::int64_t> back);
  void forward_third(const PipelineTask& task, std::int64_t layer, std::size_t third);
  void backward_third(const PipelineTask& task, std::int64_t layer, std::size_t third);
  void pass_turn() { std::swap(turn_, other_); }
  void set_micro_batch(const PipelineTask& task);
  int number_in_step(int micro_batch) const;
  void begin_period();
  std::map<DType, TypedFlops> whole_flops() const;
  bool makes_weights(const PipelineTask& task) const;
  void begin_pass(const PipelineTask& task);
  void end_pass(const PipelineTask& task);
  void begin_gradients(const PipelineTask& task);
  void end_gradients(const PipelineTask& task);
  DataParallelGroup data_parallel_group() const;
  std::unique_ptr<DataParallel> data_parallelism();
  std::unique_ptr<ExpertExchange> expert_exchange();
  std::vector<ParameterUnit> expert_units() const;
  std::vector<ChunkUnits> chunk_units() const;
  bool defers_head(const PipelineTask& task) const;
  void make_deferred_gradients();
  void head_gradients_done(const PipelineTask& task);
  void log_losses();
  const StageChunk& chunk_of(const PipelineTask& task) const {
    return stage_.chunks[static_cast<std::size_t>(task.chunk)];
  }
  ChunkState& state_of(const PipelineTask& task) { return in_flight_[{task.chunk, task.micro_batch}]; }
  BlockState& layer_state(const PipelineTask& task, std::int64_t layer) {
    return state_of(task).layers[static_cast<std::size_t>(layer)];
  }
  void begin_range_of(const PipelineTask& task, std::int64_t layer);
  void forward_pass(const PipelineTask& task);
  void begin_forward(const PipelineTask& task);
  void begin_forward_layer(const PipelineTask& task, std::int64_t layer);
  void end_forward_layer(const PipelineTask& task, std::int64_t layer);
  void end_forward(const PipelineTask& task);
  void backward_pass(const PipelineTask& task);
  Tensor begin_backward(const PipelineTask& task);
  void backward_head(const PipelineTask& task);
  void begin_backward_layer(const PipelineTask& task, std::int64_t layer);
  void end_backward_layer(const PipelineTask& task, std::int64_t layer);
  void end_backward(const PipelineTask& task, Tensor gradient);
  void reload(const PipelineTask& task, std::int64_t layer);
  void weights_pass(const PipelineTask& task);
  void gradients_done(std::size_t unit);
  void sum_embedding();
  void sum_whole_weights();
  void sum_opposite();
  void sum_with(const std::string& what, CommunicatorId over, int offset, std::int64_t count);
  std::vector<ParameterUnit> units_of_stage() const;
  void hold_graphs();
  void begin_layer_graph();
  void end_layer_graph();
  bool is_offloaded(PartId part) const;
  void offload_layer(BlockState& state, std::int64_t layer);
  void release_offloaded();
  void reload_layer(BlockState& state, std::int64_t layer);
  void await_reloaded(BlockState& state);
  /// What a layer keeps between its passes.
  Bytes kept_bytes(const BlockKernels& block, bool recomputed) const;
  Tensor keep(const std::string& name, Bytes bytes);
  std::size_t unit_of(int chunk, std::int64_t layer) const;
  const std::vector<PipelineTask>& tasks() const {
    return schedule_.tasks[static_cast<std::size_t>(stage_.number)];
  }
  std::int64_t table_parameters() const;
  void optimizer();

  void forward_block(const BlockKernels& block, BlockState& state, bool recomputed);
  void begin_forward_block(const BlockKernels& block, BlockState& state, bool recomputed);
  void forward_parts(std::span<const PartKernel> kernels, BlockState& state, bool recomputed);
  /// Parts whose gradients of weights are made later, by weights_block().
  enum class Split { none, logits, all };
  Split usual_split() const { return schedule_.splits_backward ? Split::all : Split::none; }
  static bool splits(Split split, PartId part);
  void backward_block(const BlockKernels& block, BlockState& state, bool recomputed, Split split);
  void begin_backward_block(const BlockKernels& block, BlockState& state, bool recomputed);
  void backward_parts(const BlockKernels& block, std::span<const PartKernel> rest, BlockState& state,
                      bool recomputed, Split split);
  void weights_block(const BlockKernels& block, BlockState& state, Split split);
  void weights_parts(std::span<const PartKernel> rest, BlockState& state, Split split);
  void end_block(BlockState& state);
  void recompute(const BlockKernels& block, BlockState& state);
  void run_parts(std::span<const PartKernel> rest, Pass pass, Keeping keeping, BlockState* state);
  /// \param makes_weights in a backward pass, gradients of weights too
  void run_part(std::span<const PartKernel> kernels, Pass pass, Keeping keeping, BlockState* state,
                bool makes_weights);
  /// Events after which each part of the tokens is there; nothing is to be waited for where this rank has it.
  using Arrivals = std::vector<std::optional<EventId>>;
  void gradients_of_weights(std::span<const PartKernel> kernels, const Arrivals& inputs);
  void keep_output_gradients(const BlockKernels& block, PartId part, BlockState& state);
  Arrivals gather_tokens(PartId part, int chunks, Bytes bytes);
  Arrivals gather_in_ring(PartId part, Bytes bytes);
  /// The buffer into which the tokens of all tensor-parallel ranks are gathered.
  Tensor gather_buffer(Bytes bytes);
  /// Bytes of all tokens in the form in which \p kernels, those of one part, read them: what a recipe casts is
  /// cast before it is gathered, an output's gradient for both of its products.
  Bytes gathered_bytes(std::span<const PartKernel> kernels, Pass pass) const;
  /// Number of parts into which a part's products and collectives are cut.
  int chunks_of(PartId part, Pass pass, const PartCollectives& collectives) const;
  /// Whether a part's tokens, or its sums, go from rank to rank beside its product.
  bool runs_in_ring(PartId part, Pass pass, const PartCollectives& collectives) const;
  void pass_on(PartId part, int chunk);
  Exchange passed_on(Bytes bytes, int places) const;
  /// Whether partial sums of so many parts are copied, for a kernel that adds them.
  bool copies_sums(PartId part, int chunks) const;
  StepProgram::Stream stream_of_sums(PartId part, bool copies);
  void reduce_tokens(PartId part, int chunks, bool copies);
  void end_reduction(PartId part, bool copied);
  void run_kernel(const PartKernel& kernel, Pass pass, Keeping keeping, BlockState* state, int chunks);
  void run_chunk(const PartKernel& kernel, int chunks);
  /// Launches and awaits what ranks exchange beside \p kernel.
  void before_kernel(const PartKernel& kernel);
  /// Waits for what has been started, unless the first \p needed have been waited for.
  void await_transfers(int needed);
  void start_transfer(const PartTransfer& transfer);
  CollectiveCall call_of(const PartTransfer& transfer) const;
  void end_part();
  void loss_sums();
  void hold_output(const PartKernel& kernel);
  void release_outputs();
  void release_part(BlockState& state, PartId part);

  bool is_recomputed(std::int64_t layer) const;
  bool runs_again(const PartKernel& kernel) const;
  Bytes kept_bytes(const PartKernel& kernel, Keeping keeping) const;
  CollectiveCall tensor_call(CollectiveKind kind, Bytes bytes) const;
  Bytes hidden_bytes() const;  ///< of all tokens of a micro-batch
  void sync_attention(PartId part);
  void before_experts(PartId part);
  void after_experts(PartId part, Pass pass);
  Bytes summed_bytes(PartId part) const;  ///< over tensor-parallel ranks, of a micro-batch
  Bytes stream_bytes() const;             ///< of what runs past the blocks on one rank
  void begin(const std::string& what, HostPass pass);

  const TrainingSetup& setup_;
  const RankGrid& grid_;
  const PipelineSchedule& schedule_;
  const StepStage stage_;
  const StepCommunicators over_;
  ModelBlocks blocks_;
  StepProgram& program_;
  StepProgram::Stream compute_;
  std::vector<ParameterUnit> units_;
  std::vector<std::size_t> owned_;  ///< units that have parameters
  std::unique_ptr<DataParallel> data_parallel_;
  Turn turn_, other_;                                    ///< the pass that is composed, the one that waits
  std::map<std::pair<int, int>, ChunkState> in_flight_;  ///< by chunk and micro-batch
  std::vector<int> done_;                                ///< by chunk: micro-batches whose gradients are made
  std::set<int> cast_chunks_;                            ///< whose weights have been cast in this step
  bool casts_weights_ = false;                           ///< in this pass
  bool is_in_layer_graph_ = false;
  std::size_t forward_passes_ = 0;  ///< that have begun
  std::optional<Offloaded> offloaded_;
  std::deque<BlockState> deferred_;  ///< heads whose gradients of weights wait for the last pass
  int head_gradients_ = 0;           ///< micro-batches of which the head's are made
  StageMessages messages_;
  int started_transfers_ = 0, awaited_transfers_ = 0;  ///< in the part that runs
  StepProgram::Stream transfers_ = 0;                  ///< of the last one
  std::vector<Tensor> part_memory_;                    ///< until the part that runs has ended
  bool holds_outputs_ = false;  ///< until release_outputs(): logits, until there is a loss
  std::map<DType, TypedFlops> flops_;
  std::array<std::map<DType, TypedFlops>, 2> flops_before_;  ///< the last period but one, and the last one
};

}}  // namespace c3::workloads
