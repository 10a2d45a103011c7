#pragma once
/// Chunked linear recurrences: a sequence is cut into chunks, whose tokens meet in matrix products, and a state
/// of key_dim x value_dim numbers a head goes from chunk to chunk.

#include <cstdint>
#include <span>

#include "base/enum_names.hpp"
#include "gpu/kernels/operator.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace gpu {

/// Which recurrence, and so whose kernels.
enum class ScanRule : std::uint8_t {
  gated_delta,  ///< gated delta rule (arXiv 2412.06464): Triton kernels of flash-linear-attention
  mamba2,       ///< state space duality (arXiv 2405.21060): Triton kernels of mamba_ssm's ssd_combined.py
};
constexpr auto enum_names(ScanRule) {
  return std::to_array<EnumName<ScanRule>>(
      {{"gated_delta", ScanRule::gated_delta}, {"mamba2", ScanRule::mamba2}});
}

/// One kernel of a pass. Q, K and V of mamba2 are its C, B and x; dX is the gradient of X.
enum class ScanStage : std::uint8_t {
  norm,              ///< gated_delta: L2 norm of all queries, or of all keys
  cumsum,            ///< sums of a chunk's decays; backward of gated_delta, of their gradients
  inverse,           ///< gated_delta: A = (1 + tril(beta K K^T))^-1
  rows,              ///< gated_delta: W = A (beta K), U = A (beta V)
  states,            ///< gated_delta: chunk after chunk, V' = U - W S and S = decay S + K^T V'
  output,            ///< Q S + tril(Q K^T) V'; of mamba2 by the products Q K^T of `product`
  chunk_state,       ///< mamba2: K^T V of each chunk
  passing,           ///< mamba2: chunk after chunk, sums of those with their decays
  product,           ///< mamba2: Q K^T of each chunk
  norm_gradient,     ///< gated_delta: of Q, or of K
  value_gradient,    ///< gated_delta: tril(K Q^T) dO, a part of dV'; mamba2: dV
  state_gradient,    ///< gated_delta: last chunk first, dV' and dS
  input_gradient,    ///< gated_delta: dQ, dK and dW
  row_gradient,      ///< gated_delta: dK and dV through W, U and A
  add,               ///< gated_delta: both parts of dK
  output_state,      ///< mamba2: dS of each chunk's output
  passing_gradient,  ///< mamba2: last chunk first, sums of those with their decays
  key_gradient,      ///< mamba2: dK through the states
  query_gradient,    ///< mamba2: dQ through the states
  product_gradient,  ///< mamba2: d(Q K^T)
  product_input,     ///< mamba2: dQ, or dK, of the products
  decay_gradient,    ///< mamba2: of the decays within a chunk
  cumsum_gradient,   ///< mamba2: of the steps, from all gradients of decays
};
constexpr auto enum_names(ScanStage) {
  using enum ScanStage;
  return std::to_array<EnumName<ScanStage>>({{"norm", norm},
                                             {"cumsum", cumsum},
                                             {"inverse", inverse},
                                             {"rows", rows},
                                             {"states", states},
                                             {"output", output},
                                             {"chunk_state", chunk_state},
                                             {"passing", passing},
                                             {"product", product},
                                             {"norm_gradient", norm_gradient},
                                             {"value_gradient", value_gradient},
                                             {"state_gradient", state_gradient},
                                             {"input_gradient", input_gradient},
                                             {"row_gradient", row_gradient},
                                             {"add", add},
                                             {"output_state", output_state},
                                             {"passing_gradient", passing_gradient},
                                             {"key_gradient", key_gradient},
                                             {"query_gradient", query_gradient},
                                             {"product_gradient", product_gradient},
                                             {"product_input", product_input},
                                             {"decay_gradient", decay_gradient},
                                             {"cumsum_gradient", cumsum_gradient}});
}

/// Where a sequence's first state comes from, and whether its last one stays.
enum class ScanState : std::uint8_t {
  fresh,    ///< zero, and forgotten: training
  carried,  ///< loaded and stored, in fp32: serving
};
constexpr auto enum_names(ScanState) {
  return std::to_array<EnumName<ScanState>>({{"fresh", ScanState::fresh}, {"carried", ScanState::carried}});
}

/// One kernel of a recurrence over `batch` sequences of `length` tokens. The whole operator is one such shape
/// for each of scan_stages().
struct ScanShape {
  ScanRule rule = ScanRule::gated_delta;
  ScanStage stage = ScanStage::states;
  std::int64_t batch = 1;
  std::int64_t length = 0;     ///< tokens of one sequence
  std::int64_t heads = 0;      ///< of values
  std::int64_t key_heads = 0;  ///< of queries and keys, a divisor of `heads`; mamba2: groups
  std::int64_t key_dim = 0;    ///< elements of a head's query and key; mamba2: d_state
  std::int64_t value_dim = 0;  ///< elements of a head's value; mamba2: head dimension
  std::int64_t chunk = 64;     ///< tokens
  DType dtype = DType::bf16;   ///< bf16 or fp16
  Pass pass = Pass::forward;   ///< in which the kernel runs: the backward pass computes some of forward's again
  ScanState state = ScanState::fresh;  ///< carried: forward only, which `states` and `passing` load and store

  bool operator==(const ScanShape&) const = default;
};

const OperatorClass& operator_class(const ScanShape& shape);

/// The kernels of a pass in the order of their launches, with those that compute again what the forward pass
/// did not keep; one that is launched for two tensors stands there twice.
/// Sources: chunk_gated_delta_rule_fwd and _bwd of flash-linear-attention (fla/ops/gated_delta_rule/chunk.py
/// and chunk_fwd.py of 2026, with norms of Q and K in the operator), _mamba_chunk_scan_combined_fwd and _bwd of
/// state-spaces/mamba (mamba_ssm/ops/triton/ssd_combined.py).
/// Wrong when: a library joins kernels further, or leaves norms to the caller.
std::span<const ScanStage> scan_stages(ScanRule rule, Pass pass);

/// Tokens of a chunk where a library's caller does not say: 64 of gated_delta, 256 of mamba2.
std::int64_t usual_chunk(ScanRule rule);

}}  // namespace c3::gpu
