#pragma once
/// Causal convolutions of each channel for itself over a short window of tokens, with SiLU, as they stand
/// before chunked recurrences.

#include <cstdint>
#include <string>

#include "base/enum_names.hpp"
#include "gpu/kernel.hpp"
#include "gpu/kernels/operator.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace gpu {

/// Which of a sequence's numbers are neighbours in memory, and so whose kernel runs.
enum class SequenceLayout : std::uint8_t {
  channels_last,   ///< channels of a token: Triton's causal_conv1d of vLLM and SGLang
  channels_first,  ///< tokens of a channel: Dao-AILab/causal-conv1d
};
constexpr auto enum_names(SequenceLayout) {
  return std::to_array<EnumName<SequenceLayout>>(
      {{"channels_last", SequenceLayout::channels_last}, {"channels_first", SequenceLayout::channels_first}});
}

/// y = silu(bias + sum over the window of weight x x), each channel for itself. Backward makes the gradients of
/// x, the weights and the bias in one kernel, and computes the sum again.
struct CausalConvShape {
  std::int64_t batch = 1;
  std::int64_t length = 0;    ///< tokens of one sequence
  std::int64_t channels = 0;  ///< of Gated DeltaNet: 2 key_heads key_dim + heads value_dim; of Mamba-2:
                              ///< heads value_dim + 2 groups key_dim
  std::int64_t window = 4;    ///< tokens, 2 to 4
  DType dtype = DType::bf16;
  Pass pass = Pass::forward;
  SequenceLayout layout = SequenceLayout::channels_last;

  bool operator==(const CausalConvShape&) const = default;
};

const OperatorClass& operator_class(const CausalConvShape& shape);

/// Numbers in and out of the whole kernel.
struct CausalConvCounts {
  std::int64_t work_groups = 1;
  double tokens = 0;  ///< that a thread of a work group makes in turn
  double issued = 0;  ///< numbers for which a work group issues instructions, idle lanes included
  double results = 0;
  Flops flops;  ///< a multiplication and an addition of each element of each window; three times backward
  Bytes read, written;
};

/// channels_last: 8 tokens x 256 channels a work group (vllm/model_executor/layers/mamba/ops/causal_conv1d.py:
/// BLOCK_M, BLOCK_N). channels_first: a channel of a sequence, 128 threads that take 8 tokens each and go
/// through the sequence by 1,024 (causal_conv1d_fwd.cu). Backward is assumed to be cut alike.
CausalConvCounts counts_of(const CausalConvShape& shape);

/// The longer of issuing `conv_ops` (channels_first: `conv_row_ops`) instructions a result and moving every
/// tensor once; at least a load that says where the sequence lies and, of channels_last, `token_cycles` for
/// each token that a thread makes.
/// Wrong when: the backward pass, which nobody measured: 2.5 times the instructions, as its arithmetic.
/// \throws InfeasibleError when an extent is < 1, the window is wider than 4, or the tensors do not fit into
/// the GPU's memory.
KernelDescription describe_causal_conv(std::string name, const CausalConvShape& shape, const GpuSpec& gpu);

}}  // namespace c3::gpu
