#include "workloads/training/step_composer.hpp"

#include <stdexcept>

#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/operator_table.hpp"
#include "workloads/models/styles/style.hpp"
#include "workloads/training/optimizer_step.hpp"

namespace c3 { inline namespace workloads {
namespace {

bool makes_gradient(const PartKernel& kernel) { return kernel.gradient.value > 0.0; }

/// Bytes of a product's output gradient, as the gradient of its weight reads it.
Bytes gradient_bytes(const Operator& product) {
  const auto* const gemm = product.as<GemmShape>();
  return gemm == nullptr ? output_bytes(product)
                         : output_bytes(product) * (element_size(gemm->dtype) / result_size(*gemm));
}

}  // namespace

void StepComposer::forward_block(const BlockKernels& block, BlockState& state, bool recomputed) {
  begin_forward_block(block, state, recomputed);
  forward_parts(block.forward, state, recomputed);
}

void StepComposer::begin_forward_block(const BlockKernels& block, BlockState& state, bool recomputed) {
  if (recomputed && setup_.recompute != Recompute::attention) {
    state.input = keep("layer inputs", stream_bytes());
  }
  for (const PartKernel& kernel : block.forward)
    if (const auto multiplies = kernel.op.of_class().multiplies)
      flops_[multiplies(kernel.op)].model += (kernel.is_frozen ? 2.0 : 3.0) * matrix_flops(kernel.op);
}

// \p kernels of some of the block's parts, in their order.
void StepComposer::forward_parts(std::span<const PartKernel> kernels, BlockState& state, bool recomputed) {
  run_parts(kernels, Pass::forward, recomputed ? Keeping::survivors : Keeping::all, &state);
}

void StepComposer::backward_block(const BlockKernels& block, BlockState& state, bool recomputed, Split split) {
  begin_backward_block(block, state, recomputed);
  backward_parts(block, block.backward, state, recomputed, split);
  if (split == Split::none) end_block(state);
}

void StepComposer::begin_backward_block(const BlockKernels& block, BlockState& state, bool recomputed) {
  if (recomputed && setup_.recompute != Recompute::attention) recompute(block, state);
}

// \p rest: kernels of some of the block's parts, in their order.
void StepComposer::backward_parts(const BlockKernels& block, std::span<const PartKernel> rest,
                                  BlockState& state, bool recomputed, Split split) {
  const bool again = recomputed && setup_.recompute == Recompute::attention;
  while (!rest.empty()) {
    const PartId part = rest.front().part;
    const auto end = std::ranges::find_if(rest, [&](const PartKernel& kernel) { return kernel.part != part; });
    const auto count = static_cast<std::size_t>(end - rest.begin());
    if (again && part.role == Role::values) recompute(block, state);
    run_part(rest.first(count), Pass::backward, Keeping::all, nullptr, !splits(split, part));
    const bool makes_weights = std::ranges::any_of(rest.first(count), makes_gradient);
    const bool waits = splits(split, part) && makes_weights;
    if (waits) keep_output_gradients(block, part, state);
    if (waits && split == Split::logits)  // the norm before it, whose backward kernels run, keeps it no longer
      state.kept.push_back({part, program_.memory().allocate(compute_, MemoryClass::activations,
                                                             "inputs of the head", stream_bytes())});
    if (!waits) release_part(state, part);
    rest = rest.subspan(count);
  }
}

bool StepComposer::splits(Split split, PartId part) {
  return split == Split::all || (split == Split::logits && part.role == Role::logits);
}

// Makes the gradients of weights that a split backward pass has left.
void StepComposer::weights_block(const BlockKernels& block, BlockState& state, Split split) {
  weights_parts(block.backward, state, split);
  end_block(state);
}

// \p rest: kernels of some of the block's parts, in their order.
void StepComposer::weights_parts(std::span<const PartKernel> rest, BlockState& state, Split split) {
  while (!rest.empty()) {
    const PartId part = rest.front().part;
    const auto end = std::ranges::find_if(rest, [&](const PartKernel& kernel) { return kernel.part != part; });
    const auto count = static_cast<std::size_t>(end - rest.begin());
    if (splits(split, part) && std::ranges::any_of(rest.first(count), makes_gradient)) {
      const bool gathers = collectives_of(setup_, part, Pass::backward).gathers_input;
      const Bytes bytes = gathered_bytes(rest.first(count), Pass::forward);
      const auto buffer = gathers ? std::optional(gather_buffer(bytes)) : std::nullopt;
      gradients_of_weights(rest.first(count), gathers ? gather_tokens(part, 1, bytes) : Arrivals{});
      if (buffer) program_.memory().release(*buffer);
      release_part(state, part);
    }
    rest = rest.subspan(count);
  }
}

// What parts without a backward kernel keep.
void StepComposer::end_block(BlockState& state) {
  for (const Kept& kept : state.kept)
    program_.memory().release(kept.tensor);
  state.kept.clear();
  if (state.input) program_.memory().release(*std::exchange(state.input, std::nullopt));
}

// For gradients of weights that are made later: those of the outputs of the part's products.
void StepComposer::keep_output_gradients(const BlockKernels& block, PartId part, BlockState& state) {
  for (const PartKernel& kernel : block.forward) {
    if (kernel.part != part || matrix_flops(kernel.op).value <= 0.0) continue;
    state.kept.push_back({part, program_.memory().allocate(compute_, MemoryClass::activations,
                                                           "gradients of outputs", gradient_bytes(kernel.op))});
  }
}

void StepComposer::recompute(const BlockKernels& block, BlockState& state) {
  std::vector<PartKernel> again;
  std::ranges::copy_if(block.forward, std::back_inserter(again),
                       [&](const PartKernel& kernel) { return runs_again(kernel); });
  const std::string range = program_.range();
  program_.begin_range(range + ", recompute", HostPass::forward);
  if (setup_.recompute != Recompute::attention) program_.host_work(program_.costs().layer_forward);
  run_parts(again, Pass::forward, Keeping::rest, &state);
  program_.begin_range(range, HostPass::backward);
}

bool StepComposer::is_recomputed(std::int64_t layer) const {
  return setup_.recompute != Recompute::none && (layer + 1) % setup_.recompute_every == 0;
}

// PyTorch's checkpoints end with the last tensor that is needed, Megatron-LM's run the whole layer.
bool StepComposer::runs_again(const PartKernel& kernel) const {
  const Framework& framework = setup_.framework;
  const Role role = kernel.part.role;
  const bool is_of_experts = kernel.part.block == BlockId::experts;
  const bool is_last = ((is_of_experts || kernel.part.block == BlockId::feed_forward) &&
                        (role == Role::down || role == Role::residual)) ||
                       (is_of_experts && (role == Role::restore || role == Role::combine));
  // A norm behind the last sum keeps that sum.
  const bool is_needed = framework.dropout || setup_.model.norm_after || !is_last;
  switch (setup_.recompute) {
    case Recompute::none:
      return false;
    case Recompute::attention:
      return role == Role::scores || role == Role::softmax || role == Role::values;
    case Recompute::full:
      return is_needed || framework.kernels->recomputes_to_end;
    case Recompute::selective:
      return is_needed && !kernel.survives;
  }
  return false;
}

// The product after attention keeps its output: gradients of that product's weights are made before attention
// is computed again.
Bytes StepComposer::kept_bytes(const PartKernel& kernel, Keeping keeping) const {
  const bool attention = setup_.recompute == Recompute::attention;
  const bool survives = !runs_again(kernel) || (attention && kernel.part.role == Role::values);
  switch (keeping) {
    case Keeping::all:
      return kernel.kept;
    case Keeping::survivors:
      if (!survives || setup_.recompute == Recompute::full) return {};
      return setup_.recompute == Recompute::selective && kernel.survives && !kernel.output
                 ? std::max(kernel.kept, output_bytes(kernel.op))
                 : kernel.kept;
    case Keeping::rest:
      return survives ? Bytes{} : kernel.kept - kernel.kept_input;
  }
  throw std::logic_error("StepComposer: unknown keeping");
}

void StepComposer::run_parts(std::span<const PartKernel> rest, Pass pass, Keeping keeping, BlockState* state) {
  while (!rest.empty()) {
    const auto end =
        std::ranges::find_if(rest, [&](const PartKernel& kernel) { return kernel.part != rest.front().part; });
    const auto count = static_cast<std::size_t>(end - rest.begin());
    run_part(rest.first(count), pass, keeping, state, true);
    rest = rest.subspan(count);
  }
}

// Gradients of weights wait for nobody: they run beside the sum over ranks, or before what is summed.
void StepComposer::run_part(std::span<const PartKernel> kernels, Pass pass, Keeping keeping, BlockState* state,
                            bool makes_weights) {
  const PartId part = kernels.front().part;
  const PartCollectives collectives = collectives_of(setup_, part, pass);
  before_experts(part);
  if (pass == Pass::forward) sync_attention(part);
  holds_outputs_ = pass == Pass::forward && (part.block == BlockId::head || part.block == BlockId::loss);
  const int chunks = chunks_of(part, pass, collectives);
  // A framework that does not gather again keeps what it gathered, for the backward pass to read.
  const bool is_kept =
      pass == Pass::forward && keeping != Keeping::survivors && !setup_.framework.kernels->gathers_again;
  std::vector<Tensor> buffers;
  const Bytes gathered_size = gathered_bytes(kernels, pass);
  const Bytes input_size = gathered_bytes(kernels, Pass::forward);
  if (collectives.gathers && !is_kept) buffers.push_back(gather_buffer(gathered_size));
  const bool gathers_input = collectives.gathers_input && makes_weights;
  if (gathers_input) buffers.push_back(gather_buffer(input_size));
  const bool in_ring = runs_in_ring(part, pass, collectives);
  const Arrivals gathered = !collectives.gathers ? Arrivals{}
                            : in_ring            ? gather_in_ring(part, gathered_size)
                                                 : gather_tokens(part, chunks, gathered_size);
  const Arrivals inputs = gathers_input ? gather_tokens(part, 1, input_size) : Arrivals{};
  const bool defers = collectives.reduces && setup_.framework.overlaps_tensor;
  if (makes_weights && collectives.reduces && !defers) gradients_of_weights(kernels, inputs);
  for (int chunk = 0; chunk < chunks; ++chunk) {
    if (!gathered.empty() && gathered[static_cast<std::size_t>(chunk)])
      program_.wait(compute_, *gathered[static_cast<std::size_t>(chunk)]);
    for (const PartKernel& kernel : kernels) {
      if (makes_gradient(kernel) || (kernel.once && !(casts_weights_ && pass == Pass::forward))) continue;
      if (chunk == 0) run_kernel(kernel, pass, keeping, state, chunks);
      if (chunk > 0) run_chunk(kernel, chunks);
    }
    if (!collectives.reduces) continue;
    if (in_ring)
      pass_on(part, chunk);
    else
      reduce_tokens(part, chunks, copies_sums(part, chunks));
  }
  if (makes_weights && (!collectives.reduces || defers)) gradients_of_weights(kernels, inputs);
  for (const Tensor buffer : buffers)
    program_.memory().release(buffer);
  end_part();
  if (collectives.reduces && !in_ring) end_reduction(part, copies_sums(part, chunks));
  if (part.block == BlockId::loss && pass == Pass::forward) loss_sums();
  after_experts(part, pass);
}

void StepComposer::before_experts(PartId part) {
  if (part.block == BlockId::experts) data_parallel_->before_experts(turn_.unit, turn_.pass);
  if (turn_.exchange) turn_.exchange->before(part);
}

// What is computed again in a backward pass leaves experts' weights for that.
void StepComposer::after_experts(PartId part, Pass pass) {
  if (turn_.exchange) turn_.exchange->after(part, pass);
  const Role last = pass == Pass::forward ? Role::combine : Role::dispatch;
  if (pass == turn_.pass && part == PartId{BlockId::experts, last})
    data_parallel_->after_experts(turn_.unit, pass);
}

void StepComposer::sync_attention(PartId part) {
  if (!setup_.framework.syncs_attention || part.block != BlockId::self_attention) return;
  const Role role = part.role;
  if (role == Role::scores || role == Role::softmax || role == Role::values || role == Role::out)
    program_.host_wait(program_.record(compute_, name_of(part) + " may begin"));
}

/// \param inputs after which a rank has all tokens of what it kept a part of
void StepComposer::gradients_of_weights(std::span<const PartKernel> kernels, const Arrivals& inputs) {
  for (const std::optional<EventId>& event : inputs)
    program_.wait(compute_, event.value());
  for (const PartKernel& kernel : kernels) {
    if (makes_gradient(kernel)) run_kernel(kernel, Pass::backward, Keeping::all, nullptr, 1);
  }
}

void StepComposer::run_kernel(const PartKernel& kernel, Pass pass, Keeping keeping, BlockState* state,
                              int chunks) {
  before_kernel(kernel);
  const Bytes kept = pass == Pass::forward ? kept_bytes(kernel, keeping) : Bytes{};
  const bool is_again = keeping == Keeping::rest;
  if (kept.value > 0.0) {
    state->kept.push_back(
        {kernel.part,
         is_again ? program_.memory().allocate(compute_, MemoryClass::activations, name_of(kernel.part), kept)
                  : keep(name_of(kernel.part), kept)});
    if (!holds_outputs_) release_outputs();
  } else if (kernel.gradient.value <= 0.0) {
    hold_output(kernel);
  }
  run_chunk(kernel, chunks);
}

void StepComposer::run_chunk(const PartKernel& kernel, int chunks) {
  const Operator op = part_of(kernel.op, chunks);
  if (const auto multiplies = op.of_class().multiplies) flops_[multiplies(op)].hardware += matrix_flops(op);
  program_.host_launches(kernel.launches - 1);
  program_.kernel(compute_, name_of(kernel.part), op);
}

// A kernel's output is needed by the next one, and no longer.
void StepComposer::hold_output(const PartKernel& kernel) {
  const Bytes bytes = kernel.output.value_or(output_bytes(kernel.op));
  if (bytes.value <= 0.0) return;
  const Tensor tensor = program_.memory().allocate(compute_, MemoryClass::activations, "temporaries", bytes);
  if (!holds_outputs_) release_outputs();
  turn_.outputs.push_back(tensor);
}

void StepComposer::release_outputs() {
  for (const Tensor tensor : std::exchange(turn_.outputs, {}))
    program_.memory().release(tensor);
}

void StepComposer::release_part(BlockState& state, PartId part) {
  std::erase_if(state.kept, [&](const Kept& kept) {
    if (kept.part != part) return false;
    program_.memory().release(kept.tensor);
    return true;
  });
}

void StepComposer::optimizer() {
  begin("optimizer", HostPass::forward);
  release_outputs();
  OptimizerStep(setup_, grid_, owned_, *data_parallel_, program_).write();
}

CollectiveCall StepComposer::tensor_call(CollectiveKind kind, Bytes bytes) const {
  return grid_.along(GridAxis::tensor, {.kind = kind, .bytes = bytes, .dtype = setup_.dtype});
}

Bytes StepComposer::hidden_bytes() const {
  return element_size(setup_.dtype) * static_cast<double>(setup_.tokens() * setup_.model.hidden);
}

Bytes StepComposer::stream_bytes() const {
  return hidden_bytes() / (setup_.sequence_parallel ? setup_.tensor_parallel : 1);
}

}}  // namespace c3::workloads
