// Collectives of tensor-parallel ranks beside the products that feed them, or that they feed.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "workloads/training/step_composer.hpp"

namespace c3 { inline namespace workloads {

StepComposer::Arrivals StepComposer::gather_tokens(PartId part, int chunks, Bytes bytes) {
  const auto stream = program_.stream(part.block == BlockId::embedding ? "vocabulary" : "tensor_gather");
  program_.order(compute_, stream, name_of(part) + " ready");
  Arrivals events;
  for (int chunk = 0; chunk < chunks; ++chunk) {
    program_.collective(stream, name_of(part) + " all_gather",
                        tensor_call(CollectiveKind::all_gather, bytes / chunks));
    events.push_back(program_.record(stream, name_of(part) + " gathered"));
  }
  return events;
}

StepComposer::Tensor StepComposer::gather_buffer(Bytes bytes) {
  return program_.memory().allocate(compute_, MemoryClass::communication, "gathered tokens", bytes);
}

Bytes StepComposer::gathered_bytes(std::span<const PartKernel> kernels, Pass pass) const {
  const PrecisionSetup& precision = setup_.precision;
  const bool is_cast = precision.recipe->dtype && std::ranges::any_of(kernels, [&](const PartKernel& kernel) {
                         const auto* const gemm = kernel.op.as<GemmShape>();
                         return gemm != nullptr && gemm->dtype == *precision.recipe->dtype;
                       });
  const std::int64_t width = exchanged_width(setup_.model, kernels.front().part);
  const auto numbers = static_cast<double>(setup_.tokens() * width);
  if (!is_cast) return element_size(setup_.dtype) * numbers;
  const RecipeEntry& recipe = *precision.recipe.operator->();
  const bool both = pass == Pass::backward && recipe.scales_by_direction && precision.weight_gradients;
  const TensorCasts& casts = pass == Pass::forward ? recipe.inputs : recipe.gradients;
  return Bytes{bytes_of_number(both ? casts.both : casts.rows) * numbers};
}

// The part that this rank has first, then what the rank before it passes on, while products run.
StepComposer::Arrivals StepComposer::gather_in_ring(PartId part, Bytes bytes) {
  const auto stream = program_.stream("tensor_ring");
  program_.order(compute_, stream, name_of(part) + " ready");
  Arrivals arrivals{std::nullopt};
  for (int step = 1; step < setup_.tensor_parallel; ++step) {
    program_.exchange(stream, name_of(part) + " passed on", passed_on(bytes / setup_.tensor_parallel, 1));
    arrivals.push_back(program_.record(stream, name_of(part) + " arrived"));
  }
  return arrivals;
}

// Each part of a sum goes to the rank that keeps it, the last part stays; one kernel adds what has come. It
// reads a tensor of each rank and writes one, where an addition goes through three.
void StepComposer::pass_on(PartId part, int chunk) {
  const auto stream = program_.stream("tensor_ring");
  const int ranks = setup_.tensor_parallel;
  if (chunk + 1 < ranks) {
    program_.order(compute_, stream, name_of(part) + " ready");
    program_.exchange(stream, name_of(part) + " passed on", passed_on(hidden_bytes() / ranks, chunk + 1));
    return;
  }
  program_.order(stream, compute_, name_of(part) + " arrived");
  const std::int64_t numbers = setup_.tokens() * setup_.model.hidden / ranks;
  program_.kernel(compute_, name_of(part) + " sum",
                  flat(VectorOp::add, numbers * (ranks + 1) / 3, setup_.dtype));
}

// Sends to the rank \p places further on, and receives as much from the rank \p places before.
Exchange StepComposer::passed_on(Bytes bytes, int places) const {
  return {.communicator = over_.tensor,
          .messages = {{.offset = places, .bytes = bytes, .sends = true},
                       {.offset = -places, .bytes = bytes, .sends = false}}};
}

// TransformerEngine's of a layer's four products (common/comm_gemm_overlap/comm_gemm_overlap.cpp,
// split_overlap_ag and split_overlap_rs of CommOverlapP2PBase): gathers before them, and sums behind the second
// product of each block. What comes before gradients of weights is in bulk.
bool StepComposer::runs_in_ring(PartId part, Pass pass, const PartCollectives& collectives) const {
  if (setup_.tensor_overlap != TensorOverlap::ring) return false;
  if (is_of_latent(setup_.model, part)) return false;
  const bool is_of_layer = part.block == BlockId::self_attention || part.block == BlockId::feed_forward;
  return is_of_layer && (collectives.gathers || (collectives.reduces && pass == Pass::forward));
}

// PyTorch finds sums that follow one product (torch/_inductor/fx_passes/micro_pipeline_tp.py): not those of
// several products' gradients, which are added first. Latent vectors are too small to be worth cutting.
int StepComposer::chunks_of(PartId part, Pass pass, const PartCollectives& collectives) const {
  if (!collectives.gathers && !collectives.reduces) return 1;
  if (is_of_latent(setup_.model, part)) return 1;
  const bool is_ring = setup_.tensor_overlap == TensorOverlap::ring;
  if (is_ring && !runs_in_ring(part, pass, collectives)) return 1;
  const bool has_several = setup_.framework.separate_projections && part.role != Role::logits;
  const bool adds_first = pass == Pass::backward && collectives.reduces && has_several;
  return setup_.tensor_overlap == TensorOverlap::user_buffers && adds_first ? 1 : setup_.product_parts();
}

bool StepComposer::copies_sums(PartId part, int chunks) const {
  return setup_.tensor_overlap == TensorOverlap::user_buffers && chunks > 1 && part.block != BlockId::embedding;
}

StepProgram::Stream StepComposer::stream_of_sums(PartId part, bool copies) {
  if (part.block == BlockId::embedding) return program_.stream("vocabulary");
  return program_.stream(copies ? "tensor_copy" : "tensor");
}

// The head has the tokens whose words it predicts.
Bytes StepComposer::summed_bytes(PartId part) const {
  const std::int64_t tokens = part.block == BlockId::head ? setup_.predicted_tokens() : setup_.tokens();
  return element_size(setup_.dtype) * static_cast<double>(tokens * exchanged_width(setup_.model, part));
}

void StepComposer::reduce_tokens(PartId part, int chunks, bool copies) {
  const auto stream = stream_of_sums(part, copies);
  program_.order(compute_, stream, name_of(part) + " ready");
  auto kind = setup_.sequence_parallel ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
  if (copies) kind = CollectiveKind::all_to_all;
  program_.collective(stream, fmt::format("{} {}", name_of(part), name_of(kind)),
                      tensor_call(kind, summed_bytes(part) / chunks));
}

// What was copied is as large as the whole tensor, and is added up into this rank's part of it. An addition
// goes through three tensors.
void StepComposer::end_reduction(PartId part, bool copied) {
  program_.order(stream_of_sums(part, copied), compute_, name_of(part) + " reduced");
  if (!copied) return;
  const auto numbers = static_cast<double>(setup_.tokens() * setup_.model.hidden);
  const double read_and_written = numbers * (1.0 + 1.0 / setup_.tensor_parallel);
  program_.kernel(compute_, name_of(part) + " sum",
                  flat(VectorOp::add, static_cast<std::int64_t>(read_and_written / 3.0), setup_.dtype));
}

// Each rank has gradients of its own tokens. Megatron-Core's finalize_model_grads
// (megatron/core/distributed/finalize_model_grads.py) puts all of them into one buffer, sums it, and puts them
// back. Wrong when: FSDP sums them layer by layer.
void StepComposer::sum_whole_weights() {
  if (setup_.tensor_parallel == 1) return;
  std::int64_t count = 0;
  for (const StageChunk& chunk : stage_.chunks)
    for (std::int64_t layer = chunk.first; layer < chunk.first + chunk.layers; ++layer)
      count += blocks_.layer(layer).whole_parameters;
  if (count == 0) return;
  begin("gradients of whole weights", HostPass::backward);
  const DType dtype = setup_.framework.gradient_dtype;
  const Bytes bytes = element_size(dtype) * static_cast<double>(count);
  const Tensor buffer =
      program_.memory().allocate(compute_, MemoryClass::communication, "gradients of whole weights", bytes);
  const auto stream = program_.stream("tensor");
  program_.kernel(compute_, "whole weights, copy in", flat(VectorOp::copy, count, dtype));
  program_.order(compute_, stream, "whole weights ready");
  program_.collective(
      stream, "whole weights all_reduce",
      grid_.along(GridAxis::tensor, {.kind = CollectiveKind::all_reduce, .bytes = bytes, .dtype = dtype}));
  program_.order(stream, compute_, "whole weights summed");
  program_.kernel(compute_, "whole weights, copy out", flat(VectorOp::copy, count, dtype));
  program_.memory().release(buffer);
}

// Sums over the ranks that have other words: the largest logit, the sum of exponentials, the logit of the right
// word.
void StepComposer::loss_sums() {
  if (setup_.tensor_parallel == 1) return;
  const auto stream = program_.stream("vocabulary");
  program_.order(compute_, stream, "loss ready");
  const Bytes bytes = element_size(DType::fp32) * static_cast<double>(setup_.predicted_tokens());
  for (const char* what : {"largest logit", "sum of exponentials", "right logit"})
    program_.collective(stream, what, tensor_call(CollectiveKind::all_reduce, bytes));
  program_.order(stream, compute_, "loss summed");
}

}}  // namespace c3::workloads
