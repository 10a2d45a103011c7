// Experts under training frameworks: the router, tokens put in the order of their experts and back, and
// products of all experts of a GPU in one launch.

#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/tiling.hpp"
#include "workloads/models/training_lowering.hpp"

namespace c3 { inline namespace workloads {

// The product has operands of the layer's type and gives fp32 logits; all else is in fp32
// (megatron/core/transformer/moe/moe_utils.py, RouterGatingLinearFunction and
// topk_routing_with_score_function). Kernels: scores; the best, first of groups where there are some; the
// map of tokens to experts. The gradient of the tokens is added to what comes back from their experts.
void TrainingLowering::router(const parts::Router& part) {
  const TensorShape scores = past_blocks(part.experts);
  const GemmShape gemm{.m = scores.rows, .n = part.experts, .k = part.width, .dtype = batch_.dtype};
  const VectorOp function = part.scores == RouterScores::softmax ? VectorOp::softmax : VectorOp::exp;
  PartKernel& product = forward(gemm);
  product.output = wide_size(scores);
  product.is_frozen = part.is_frozen;
  forward_wide(function, scores, wide_size(scores));
  for (int choice = 0; choice < (part.has_groups ? 2 : 1); ++choice)
    forward_wide(VectorOp::reduce, scores);
  forward(vector_shape(VectorOp::copy, scores, DType::fp8));  // a byte for each token and expert

  backward_wide(function, scores, Pass::backward);
  const auto [input, weight] = c3::backward(gemm);
  push_backward(input);
  if (!part.is_frozen) push_backward(weight).gradient = size({part.experts, part.width});
  if (part.has_bias && !part.is_frozen)
    backward(VectorOp::reduce, {part.experts, scores.rows}).gradient = size({part.experts, 1});
  backward(VectorOp::add, past_blocks(part.width));
}

// Forward \p from rows become \p to, backward the reverse: each is read and written once.
void TrainingLowering::move_rows(std::int64_t from, std::int64_t to, std::int64_t width) {
  const TensorShape half{ceil_div(from + to, 2), width};
  forward(VectorOp::copy, half).output = size({to, width});
  backward(VectorOp::copy, half).output = size({from, width});
}

// Before tokens leave they are put in the order of their experts (alltoall); else a kernel only counts how many
// go where. Those that have arrived are put in the order of experts, with room between them where each expert's
// are padded. The first product's input is kept: no norm before it keeps it.
void TrainingLowering::experts(const parts::Experts& part) {
  RoutedTokens routed = batch_.routed;
  if (routed.sent == 0) routed.sent = batch_.between * part.per_token;
  if (routed.rows == 0) routed.rows = routed.received = routed.sent;
  const std::int64_t rows_per_expert =
      ceil_div(ceil_div(routed.rows, part.count), routed.multiple_of) * routed.multiple_of;
  const TokenBatch tokens = batch_;
  const std::int64_t rows = rows_per_expert * part.count;
  const bool is_permuted = routed.dispatch == Dispatch::alltoall;
  begin({BlockId::experts, Role::dispatch});
  is_permuted ? move_rows(tokens.between, routed.sent, part.width) : move_rows(tokens.between, 0, 1);
  begin({BlockId::experts, Role::arrange});
  move_rows(routed.received, rows, part.width);
  batch_.sequences = 1;
  batch_.length = batch_.between = rows;
  experts_ = part.count;
  std::vector<ModelPart> expert = part.expert_parts;
  for (ModelPart& expert_part : expert)
    expert_part.id.block = BlockId::experts;
  write(expert);
  experts_ = 1;
  batch_ = tokens;
  begin({BlockId::experts, Role::restore});
  move_rows(rows, routed.received, part.width);
  begin({BlockId::experts, Role::combine});
  is_permuted ? move_rows(routed.sent, tokens.between, part.width) : move_rows(0, tokens.between, 1);
}

}}  // namespace c3::workloads
