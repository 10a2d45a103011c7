#pragma once
/// The kernels of one transformer layer, of what is before the layers and of what is after them, as a training
/// framework launches them on one rank of a tensor-parallel group.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gpu/kernels/operator.hpp"
#include "workloads/training/setup.hpp"

namespace c3 {

struct StepKernel {
  std::string part;  ///< of the model, e.g. "attn.qkv"
  Operator op;
  Bytes kept = {};                   ///< forward: that the backward pass of the part needs
  Bytes kept_input = {};             ///< of that, what is there before the block runs
  bool survives = false;             ///< Recompute::selective keeps its output and does not run it again
  Bytes gradient = {};               ///< backward: of weights that it makes
  std::optional<Bytes> output = {};  ///< for which it needs memory; absent: all that the operator writes

  bool operator==(const StepKernel&) const = default;
};

/// In the order of launch. What a part's kernels keep is released when its last backward kernel has ended.
struct BlockKernels {
  std::vector<StepKernel> forward;
  std::vector<StepKernel> backward;
  std::int64_t parameters = 0;  ///< of this rank, in numbers
  int parameter_tensors = 0;    ///< that these are in
};

/// One layer. Parts: `attn.norm`, `attn.qkv`, `attn.rope`, `attn.kernel` or `attn.scores`, `attn.softmax` and
/// `attn.values`, `attn.out`, `attn.residual`, `mlp.norm`, `mlp.gate_up`, `mlp.activation`, `mlp.down`,
/// `mlp.residual`. Collectives are not in it. What a layer keeps: arXiv 2205.05198, section 4.
/// Wrong when: another version of the framework launches other kernels; experts; a layer of two stacks.
BlockKernels layer_kernels(const TrainingSetup& setup);

/// `embedding`; its table is split by words over tensor-parallel ranks.
BlockKernels embedding_kernels(const TrainingSetup& setup);

/// `final.norm`, `head.logits`, `loss`: logits are split by words, too.
BlockKernels head_kernels(const TrainingSetup& setup);

}  // namespace c3
