// Passes of a micro-batch through a chunk of layers: one alone, or a forward and a backward pass in turns.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "workloads/training/step_composer.hpp"

namespace c3 { inline namespace workloads {
namespace {

/// Kernels up to where tokens leave for experts, those of experts, and the rest; of a layer without experts all
/// are first.
using Thirds = std::array<std::span<const PartKernel>, 3>;

/// \param first, second roles after which tokens leave
Thirds thirds_of(std::span<const PartKernel> kernels, Role first, Role second) {
  const auto end_of = [&](Role role) {
    const auto last =
        std::ranges::find(kernels.rbegin(), kernels.rend(), PartId{BlockId::experts, role}, &PartKernel::part);
    return last == kernels.rend() ? kernels.size() : static_cast<std::size_t>(kernels.rend() - last);
  };
  const std::size_t leaves = end_of(first), returns = end_of(second);
  return {kernels.first(leaves), kernels.subspan(leaves, returns - leaves), kernels.subspan(returns)};
}

}  // namespace

void StepComposer::begin_range_of(const PipelineTask& task, std::int64_t layer) {
  const bool forward = task.pass == PipelinePass::forward;
  begin(fmt::format("{}, layer {}", forward ? "forward" : "backward", chunk_of(task).first + layer),
        forward ? HostPass::forward : HostPass::backward);
}

void StepComposer::forward_pass(const PipelineTask& task) {
  begin_forward(task);
  for (std::int64_t i = 0; i < chunk_of(task).layers; ++i) {
    const std::int64_t layer = chunk_of(task).first + i;
    begin_range_of(task, i);
    begin_forward_layer(task, i);
    forward_block(blocks_.layer(layer), layer_state(task, i), is_recomputed(layer));
    end_forward_layer(task, i);
  }
  end_forward(task);
}

void StepComposer::begin_forward(const PipelineTask& task) {
  ChunkState& state = state_of(task);
  state.layers.resize(static_cast<std::size_t>(chunk_of(task).layers));
  casts_weights_ = cast_chunks_.insert(task.chunk).second;
  if (!chunk_of(task).embedding) return;
  begin("forward, embedding", HostPass::forward);
  data_parallel_->before_forward(0);
  forward_block(blocks_.embedding, state.embedding, false);
}

void StepComposer::begin_forward_layer(const PipelineTask& task, std::int64_t layer) {
  program_.host_work(program_.costs().layer_forward);
  turn_.unit = unit_of(task.chunk, layer);
  turn_.pass = Pass::forward;
  data_parallel_->before_forward(turn_.unit);
  if (turn_.exchange) turn_.exchange->begin_layer(chunk_of(task).first + layer);
  begin_layer_graph();
}

void StepComposer::end_forward_layer(const PipelineTask& task, std::int64_t layer) {
  end_layer_graph();
  data_parallel_->after_forward(unit_of(task.chunk, layer));
  release_offloaded();
  if (layer < setup_.offload.layers) offload_layer(layer_state(task, layer), chunk_of(task).first + layer);
}

void StepComposer::end_forward(const PipelineTask& task) {
  casts_weights_ = false;
  if (!chunk_of(task).head) return release_offloaded();
  begin("forward, head", HostPass::forward);
  if (!stage_.has_embedding()) data_parallel_->before_forward(0);
  forward_block(blocks_.head, state_of(task).head, false);
  release_outputs();
  release_offloaded();
}

void StepComposer::backward_pass(const PipelineTask& task) {
  const Tensor gradient = begin_backward(task);
  for (std::int64_t i = chunk_of(task).layers; i-- > 0;) {
    const std::int64_t layer = chunk_of(task).first + i;
    if (setup_.experts.delayed_weight_gradients) {
      for (std::size_t third = 0; third < std::tuple_size_v<Thirds>; ++third)
        backward_third(task, i, third);
    } else {
      begin_range_of(task, i);
      begin_backward_layer(task, i);
      backward_block(blocks_.layer(layer), layer_state(task, i), is_recomputed(layer), usual_split());
    }
    end_backward_layer(task, i);
  }
  end_backward(task, gradient);
}

// Does nothing where there is no such layer.
void StepComposer::reload(const PipelineTask& task, std::int64_t layer) {
  if (layer >= 0) reload_layer(layer_state(task, layer), chunk_of(task).first + layer);
}

/// Returns the gradient of activations, which end_backward() gives back.
StepComposer::Tensor StepComposer::begin_backward(const PipelineTask& task) {
  const StageChunk& chunk = chunk_of(task);
  if (chunk.head) {
    begin("backward, head", HostPass::backward);
    data_parallel_->before_backward(0);
  }
  reload(task, chunk.layers - 1);
  const Tensor gradient = program_.memory().allocate(compute_, MemoryClass::activations,
                                                     "gradients of activations", stream_bytes());
  if (chunk.head) backward_head(task);
  return gradient;
}

void StepComposer::backward_head(const PipelineTask& task) {
  BlockState& head = state_of(task).head;
  const bool defers = defers_head(task);
  backward_block(blocks_.head, head, false, defers ? Split::logits : usual_split());
  if (defers) {
    deferred_.push_back(std::exchange(head, {}));
  } else if (!schedule_.splits_backward && !stage_.has_embedding()) {
    head_gradients_done(task);
  }
}

void StepComposer::begin_backward_layer(const PipelineTask& task, std::int64_t layer) {
  program_.host_work(program_.costs().layer_backward);
  turn_.unit = unit_of(task.chunk, layer);
  turn_.pass = Pass::backward;
  data_parallel_->before_backward(turn_.unit);
  if (turn_.exchange) turn_.exchange->begin_layer(chunk_of(task).first + layer);
  await_reloaded(layer_state(task, layer));
  reload(task, layer - 1);
  begin_layer_graph();
}

void StepComposer::end_backward_layer(const PipelineTask& task, std::int64_t layer) {
  end_layer_graph();
  gradients_done(unit_of(task.chunk, layer));
}

void StepComposer::end_backward(const PipelineTask& task, Tensor gradient) {
  const bool embedding = chunk_of(task).embedding;
  if (embedding) {
    begin("backward, embedding", HostPass::backward);
    if (!stage_.has_head()) data_parallel_->before_backward(0);
    backward_block(blocks_.embedding, state_of(task).embedding, false, usual_split());
  }
  program_.memory().release(gradient);
  if (embedding) gradients_done(0);
}

// Megatron-Core, overlap_moe_expert_parallel_comm: the first layer forward with the last one backward, and so
// on.
void StepComposer::run_pair(const PipelineTask& forward, const PipelineTask& backward) {
  set_micro_batch(backward);
  begin_pass(backward);
  const Tensor gradient = begin_backward(backward);
  pass_turn();
  set_micro_batch(forward);
  begin_pass(forward);
  begin_forward(forward);
  pass_turn();
  const std::int64_t ahead = chunk_of(forward).layers, back = chunk_of(backward).layers;
  for (std::int64_t i = 0; i < std::max(ahead, back); ++i)
    run_layers(forward, i < ahead ? std::optional(i) : std::nullopt, backward,
               i < back ? std::optional(back - 1 - i) : std::nullopt);
  end_backward(backward, gradient);
  end_pass(backward);
  release_outputs();
  pass_turn();
  end_forward(forward);
  end_pass(forward);
}

// While tokens of one pass travel, kernels of the other run: attention forward beside gradients that come to
// experts, these beside tokens that do, experts forward beside gradients on their way back, and attention
// backward beside tokens that return. \param ahead, back layers of the chunks; nullopt: there are no more
void StepComposer::run_layers(const PipelineTask& forward, std::optional<std::int64_t> ahead,
                              const PipelineTask& backward, std::optional<std::int64_t> back) {
  for (std::size_t third = 0; third < std::tuple_size_v<Thirds>; ++third) {
    if (back) backward_third(backward, *back, third);
    pass_turn();
    if (ahead) forward_third(forward, *ahead, third);
    pass_turn();
  }
  if (back) end_backward_layer(backward, *back);
  if (ahead) end_forward_layer(forward, *ahead);
}

void StepComposer::forward_third(const PipelineTask& task, std::int64_t layer, std::size_t third) {
  const std::int64_t number = chunk_of(task).first + layer;
  const StepBlock& block = blocks_.layer(number);
  BlockState& state = layer_state(task, layer);
  begin_range_of(task, layer);
  if (third == 0) {
    begin_forward_layer(task, layer);
    begin_forward_block(block, state, is_recomputed(number));
  }
  forward_parts(thirds_of(block.forward, Role::dispatch, Role::restore)[third], state, is_recomputed(number));
}

// Delayed, gradients of experts' weights are made beside gradients of tokens on their way back, all others at
// the layer's end (Megatron-Core, models/common/model_chunk_schedule_plan.py: mlp and attn backward_dw). Wrong
// when: a stage sends its last gradients before attention's weights of its first layer.
void StepComposer::backward_third(const PipelineTask& task, std::int64_t layer, std::size_t third) {
  const std::int64_t number = chunk_of(task).first + layer;
  const StepBlock& block = blocks_.layer(number);
  const Thirds thirds = thirds_of(block.backward, Role::combine, Role::arrange);
  BlockState& state = layer_state(task, layer);
  begin_range_of(task, layer);
  if (third == 0) {
    begin_backward_layer(task, layer);
    begin_backward_block(block, state, is_recomputed(number));
  }
  const bool delays = setup_.experts.delayed_weight_gradients, is_last = third + 1 == thirds.size();
  backward_parts(block, thirds[third], state, is_recomputed(number), delays ? Split::all : usual_split());
  if (delays && third == 1) weights_parts(thirds[1], state, Split::all);
  if (delays && is_last)
    for (const auto& kernels : {thirds[0], thirds[2]})
      weights_parts(kernels, state, Split::all);
  if (is_last && usual_split() == Split::none) end_block(state);
}

}}  // namespace c3::workloads
