// The passes of a step, in the order that a schedule gives them.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "workloads/training/pipeline_rules.hpp"
#include "workloads/training/sharding.hpp"
#include "workloads/training/step_composer.hpp"

namespace c3 { inline namespace workloads {

StepComposer::StepComposer(const TrainingSetup& setup, const RankGrid& grid, const PipelineSchedule& schedule,
                           StepStage stage, StepCommunicators over, StepProgram& program)
    : setup_(setup),
      grid_(grid),
      schedule_(schedule),
      stage_(std::move(stage)),
      over_(over),
      blocks_(model_blocks(setup, stage_.experts)),
      program_(program),
      compute_(program_.stream("compute")),
      units_(units_of_stage()),
      data_parallel_(data_parallelism()),
      done_(stage_.chunks.size()),
      messages_(setup.pipeline, schedule, stage_.number,
                {.bytes = stream_bytes(),
                 .tensor_ranks = setup.tensor_parallel,
                 .gather = tensor_call(CollectiveKind::all_gather, stream_bytes())},
                over, program_) {
  for (std::size_t unit = 0; unit < units_.size(); ++unit)
    if (units_[unit].parameters > 0) owned_.push_back(unit);
  if (setup.model.experts) turn_.exchange = expert_exchange();
  if (!setup.experts.micro_batch_overlap) return;
  other_.exchange = expert_exchange();
  turn_.exchange->run_beside(*other_.exchange);
}

std::unique_ptr<ExpertExchange> StepComposer::expert_exchange() {
  return std::make_unique<ExpertExchange>(setup_, ExpertGrid(setup_, grid_.ranks()), stage_.experts, program_);
}

std::vector<ParameterUnit> StepComposer::units_of_stage() const {
  ParameterUnit root{.name = "root", .parameters = 0, .tensors = 0};
  const auto add = [&](const StepBlock& block) {
    root.parameters += block.parameters;
    root.tensors += block.parameter_tensors;
    root.product_parameters += block.product_parameters;
    root.product_tensors += block.product_tensors;
    root.frozen.all += block.frozen.all;
  };
  if (stage_.has_embedding()) add(blocks_.embedding);
  if (stage_.has_head()) add(blocks_.head);
  if (stage_.has_head() && stage_.sums_embedding) {
    const bool is_frozen = setup_.lora.rank > 0;
    (is_frozen ? root.frozen.all : root.parameters) += table_parameters();
    if (!is_frozen) ++root.tensors;
  }
  std::vector<ParameterUnit> units{root};
  for (const StageChunk& chunk : stage_.chunks) {
    for (std::int64_t i = chunk.first; i < chunk.first + chunk.layers; ++i) {
      const StepBlock& layer = blocks_.layer(i);
      units.push_back({fmt::format("layer {}", i), layer.parameters, layer.parameter_tensors,
                       layer.product_parameters, layer.product_tensors, layer.cast_parameters, layer.frozen});
    }
  }
  return units;
}

// The units of experts, which have a grid of their own.
std::vector<ParameterUnit> StepComposer::expert_units() const {
  std::vector<ParameterUnit> units{{.name = "root experts", .tensors = 0}};
  for (const StageChunk& chunk : stage_.chunks) {
    for (std::int64_t i = chunk.first; i < chunk.first + chunk.layers; ++i) {
      ParameterUnit unit = blocks_.layer(i).experts;
      unit.name = fmt::format("layer {} experts", i);
      if (unit.parameters == 0) unit.tensors = 0;
      units.push_back(std::move(unit));
    }
  }
  return units;
}

std::unique_ptr<DataParallel> StepComposer::data_parallelism() {
  const std::vector<ParameterUnit> of_experts = expert_units();
  const bool trains_experts =
      std::ranges::any_of(of_experts, [](const ParameterUnit& unit) { return unit.parameters > 0; });
  if (!trains_experts)
    return make_data_parallel(setup_, units_, chunk_units(), data_parallel_group(), program_);
  const ExpertGrid experts(setup_, grid_.ranks());
  const DataParallelGroup group = data_parallel_group();
  const int size = experts.data() / group.replicas;
  const ExpertReplicas replicas{.units = of_experts,
                                .group = {.size = size,
                                          .stride = experts.data_groups().stride,
                                          .is_all = size == experts.ranks(),
                                          .stage = stage_.number,
                                          .replicas = group.replicas,
                                          .bucket_ranks = group.bucket_ranks,
                                          .streams = "expert_"}};
  return make_data_parallel(setup_, units_, chunk_units(), group, replicas, program_);
}

DataParallelGroup StepComposer::data_parallel_group() const {
  const RankGroups all = grid_.replicas();
  const int size = setup_.shard_group > 0 ? std::min(setup_.shard_group, all.size) : all.size;
  return {.size = size,
          .stride = all.stride,
          .is_all = size == grid_.ranks(),
          .stage = stage_.number,
          .replicas = all.size / size,
          .bucket_ranks = all.size};
}

// What is before or after all layers is one unit: with the embedding where that is on this stage.
std::vector<ChunkUnits> StepComposer::chunk_units() const {
  std::vector<ChunkUnits> all;
  for (const StageChunk& chunk : stage_.chunks) {
    ChunkUnits chunk_units;
    if (chunk.embedding) chunk_units.units.push_back(0);
    for (std::int64_t i = 0; i < chunk.layers; ++i)
      chunk_units.units.push_back(unit_of(static_cast<int>(all.size()), i));
    if (chunk.head && !stage_.has_embedding()) chunk_units.units.push_back(0);
    for (const PipelineTask& task : tasks()) {
      if (task.pass != PipelinePass::forward) continue;
      if (task.chunk == static_cast<int>(all.size())) break;
      ++chunk_units.first_pass;
    }
    all.push_back(std::move(chunk_units));
  }
  return all;
}

// Parameters of this rank's share of the word table, in its tensor-parallel group.
std::int64_t StepComposer::table_parameters() const {
  const std::int64_t ranks = setup_.tensor_parallel;
  return (setup_.model.vocabulary + ranks - 1) / ranks * setup_.model.hidden;
}

/// \param layer of those of the chunk
std::size_t StepComposer::unit_of(int chunk, std::int64_t layer) const {
  std::int64_t unit = 1 + layer;
  for (int before = 0; before < chunk; ++before)
    unit += stage_.chunks[static_cast<std::size_t>(before)].layers;
  return static_cast<std::size_t>(unit);
}

StepStageFacts StepComposer::compose() {
  begin("start", HostPass::forward);
  data_parallel_->begin_step();
  if (setup_.graphs == StepGraphs::layers) hold_graphs();
  program_.memory().begin_step();
  if (setup_.graphs == StepGraphs::step) program_.begin_graph();
  for (std::size_t number = 0; number < tasks().size(); ++number) {
    const bool is_pair =
        setup_.experts.micro_batch_overlap && number + 1 < tasks().size() && tasks()[number + 1].with_before;
    messages_.before(number);
    if (is_pair) messages_.before(number + 1);
    is_pair ? run_pair(tasks()[number], tasks()[number + 1]) : run(tasks()[number]);
    messages_.after(number);
    if (is_pair) messages_.after(++number);
  }
  make_deferred_gradients();
  if (setup_.pipeline.stages > 1) data_parallel_->end_backward();  // the stage before waits for no reduction
  messages_.end();
  sum_whole_weights();
  if (stage_.sums_embedding && setup_.lora.rank == 0) sum_embedding();
  if (schedule_.path == ChunkPath::both) sum_opposite();
  turn_.micro_batch.clear();
  program_.end_graph();
  optimizer();
  program_.finish();
  MemoryLedger::Account account = program_.memory().account();
  return {whole_flops(), std::move(account.peak), std::move(program_.memory()), account.is_settled};
}

// Every period of micro-batches does what the one before did, once all stages are busy.
void StepComposer::begin_period() {
  program_.memory().begin_period();
  flops_before_.front() = std::exchange(flops_before_.back(), flops_);
}

std::map<DType, TypedFlops> StepComposer::whole_flops() const {
  std::map<DType, TypedFlops> whole = flops_;
  if (stage_.left_out == 0) return whole;
  const auto periods = static_cast<double>(stage_.left_out / micro_batch_period(setup_));
  for (auto& [dtype, flops] : whole) {
    for (const auto& [sign, before] :
         {std::pair(-periods, &flops_before_.front()), {periods, &flops_before_.back()}}) {
      const auto counted = before->find(dtype);
      if (counted == before->end()) continue;  // multiplied first in a later pass: the step has not settled
      flops.model += sign * counted->second.model;
      flops.hardware += sign * counted->second.hardware;
    }
  }
  return whole;
}

void StepComposer::begin(const std::string& what, HostPass pass) {
  program_.begin_range(turn_.micro_batch + what, pass);
}

void StepComposer::run(const PipelineTask& task) {
  set_micro_batch(task);
  begin_pass(task);
  if (task.pass == PipelinePass::forward) forward_pass(task);
  if (task.pass == PipelinePass::backward) backward_pass(task);
  if (task.pass == PipelinePass::weights) weights_pass(task);
  end_pass(task);
}

void StepComposer::set_micro_batch(const PipelineTask& task) {
  if (setup_.micro_batches > 1)
    turn_.micro_batch = fmt::format("micro-batch {}, ", number_in_step(task.micro_batch));
}

// Micro-batches that are left out are in the middle: nothing new happens there.
int StepComposer::number_in_step(int micro_batch) const {
  const bool is_later = micro_batch >= setup_.micro_batches / 2;
  return micro_batch + (is_later ? static_cast<int>(stage_.left_out) : 0);
}

bool StepComposer::makes_weights(const PipelineTask& task) const {
  return task.pass == (schedule_.splits_backward ? PipelinePass::weights : PipelinePass::backward);
}

void StepComposer::begin_pass(const PipelineTask& task) {
  const bool begins_period = task.pass == PipelinePass::forward && task.chunk == 0 &&
                             task.micro_batch % micro_batch_period(setup_) == 0;
  if (begins_period) begin_period();
  if (makes_weights(task)) begin_gradients(task);
  if (task.pass == PipelinePass::forward) data_parallel_->begin_forward(forward_passes_++);
}

void StepComposer::end_pass(const PipelineTask& task) {
  if (makes_weights(task)) end_gradients(task);
  if (setup_.framework.syncs_passes) program_.host_wait(program_.record(compute_, "end of pass"));
}

void StepComposer::begin_gradients(const PipelineTask& task) {
  const int done = done_[static_cast<std::size_t>(task.chunk)]++;
  const std::int64_t all = schedule_.through_a_chunk(setup_.micro_batches);
  data_parallel_->begin_micro_batch(task.chunk, done == 0, done + 1 == all);
}

void StepComposer::end_gradients(const PipelineTask& task) {
  in_flight_.erase({task.chunk, task.micro_batch});
  data_parallel_->end_micro_batch();
  if (setup_.pipeline.stages == 1) data_parallel_->end_backward();
  if (stage_.chunks[static_cast<std::size_t>(task.chunk)].head) log_losses();
}

// Does what PyTorch's cross entropy does without a gradient: logits are copied to fp32, whose softmax is
// written. They stay until then, since the model has returned them.
void StepComposer::log_losses() {
  if (setup_.framework.logged_losses == 0) return;
  begin("logged losses", HostPass::forward);
  const std::int64_t words = table_parameters() / setup_.model.hidden;
  const auto numbers = static_cast<double>(setup_.predicted_tokens() * words);
  MemoryLedger& memory = program_.memory();
  const Tensor logits =
      memory.allocate(compute_, MemoryClass::activations, "logits", element_size(setup_.dtype) * numbers);
  const Tensor wide = memory.allocate(compute_, MemoryClass::activations, "temporaries",
                                      2.0 * element_size(DType::fp32) * numbers);
  for (int i = 0; i < setup_.framework.logged_losses; ++i) {
    if (setup_.dtype != DType::fp32)
      program_.kernel(compute_, "loss logged", fp32_copy(setup_.predicted_tokens() * words, setup_.dtype));
    program_.kernel(compute_, "loss logged",
                    vector_shape(VectorOp::softmax, {setup_.predicted_tokens(), words}, DType::fp32));
  }
  memory.release(wide);
  memory.release(logits);
}

// The first micro-batches defer it (Megatron-Core: defer_embedding_wgrad_compute, wgrad_deferral_limit).
bool StepComposer::defers_head(const PipelineTask& task) const {
  const std::int64_t deferred = setup_.pipeline.deferred_head_gradients;
  return deferred > 0 && done_[static_cast<std::size_t>(task.chunk)] <= deferred;
}

// Layers and head count apart where some of the head's gradients are made later.
void StepComposer::head_gradients_done(const PipelineTask& task) {
  const std::int64_t all = schedule_.through_a_chunk(setup_.micro_batches);
  const int layers = done_[static_cast<std::size_t>(task.chunk)];
  const int head = ++head_gradients_;
  data_parallel_->begin_micro_batch(task.chunk, head == 1, head == all);
  data_parallel_->after_backward(0);
  data_parallel_->begin_micro_batch(task.chunk, layers == 1, layers == all);
}

// Runs while stages before this one still have passes to do.
void StepComposer::make_deferred_gradients() {
  if (deferred_.empty()) return;
  const auto chunk = std::ranges::find_if(stage_.chunks, &StageChunk::head) - stage_.chunks.begin();
  for (; !deferred_.empty(); deferred_.pop_front()) {
    begin("deferred weights, head", HostPass::backward);
    weights_block(blocks_.head, deferred_.front(), Split::logits);
    head_gradients_done({.chunk = static_cast<int>(chunk)});
  }
}

/// The backward pass has made the gradients of \p unit, all of them unless it is split.
void StepComposer::gradients_done(std::size_t unit) {
  if (!schedule_.splits_backward) data_parallel_->after_backward(unit);
}

void StepComposer::weights_pass(const PipelineTask& task) {
  const StageChunk& chunk = stage_.chunks[static_cast<std::size_t>(task.chunk)];
  ChunkState& state = in_flight_[{task.chunk, task.micro_batch}];
  if (chunk.head) {
    begin("weights, head", HostPass::backward);
    weights_block(blocks_.head, state.head, Split::all);
    if (!stage_.has_embedding()) data_parallel_->after_backward(0);
  }
  for (std::int64_t i = chunk.layers; i-- > 0;) {
    begin(fmt::format("weights, layer {}", chunk.first + i), HostPass::backward);
    weights_block(blocks_.layer(chunk.first + i), state.layers[static_cast<std::size_t>(i)], Split::all);
    data_parallel_->after_backward(unit_of(task.chunk, i));
  }
  if (!chunk.embedding) return;
  begin("weights, embedding", HostPass::backward);
  weights_block(blocks_.embedding, state.embedding, Split::all);
  data_parallel_->after_backward(0);
}

// Both ends of the pipeline have the table of words and half of its gradient.
void StepComposer::sum_embedding() {
  // Counted around, the last stage is before the first.
  sum_with("embedding", over_.embedding, stage_.has_embedding() ? -1 : 1, table_parameters());
}

// The stage opposite has the same layers and the gradients of the other half of the micro-batches.
void StepComposer::sum_opposite() {
  std::int64_t count = 0;
  for (const std::size_t unit : owned_)
    count += data_parallel_->updated(unit);
  sum_with("opposite stage", over_.opposite, schedule_.stages() - 1 - 2 * stage_.number, count);
}

/// Sends \p count gradients and adds as many of another rank to them, as an all-reduce of two does. Both ranks
/// have as many, so that neither sends where there are none.
void StepComposer::sum_with(const std::string& what, CommunicatorId over, int offset, std::int64_t count) {
  if (count == 0) return;
  const std::string gradients = what + "'s gradients";
  begin(gradients, HostPass::backward);
  const Bytes bytes = element_size(setup_.framework.gradient_dtype) * static_cast<double>(count);
  const auto stream = program_.stream(what);
  const Tensor others = program_.memory().allocate(compute_, MemoryClass::communication, gradients, bytes);
  program_.order(compute_, stream, gradients + " made");
  program_.exchange(stream, gradients,
                    {.communicator = over,
                     .messages = {{.offset = offset, .bytes = bytes, .sends = true},
                                  {.offset = offset, .bytes = bytes, .sends = false}}});
  program_.order(stream, compute_, gradients + " there");
  program_.kernel(compute_, "add " + gradients, flat(VectorOp::add, count, setup_.framework.gradient_dtype));
  program_.memory().release(others);
}

}}  // namespace c3::workloads
