#pragma once
/// The blocks of a training step on one rank of a tensor-parallel group: a model's parts, lowered to kernels.

#include <cstdint>

#include "workloads/models/lowering.hpp"
#include "workloads/training/setup.hpp"

namespace c3::inline workloads {

struct StepBlock : BlockKernels {
  std::int64_t parameters = 0;          ///< of this rank, in numbers
  int parameter_tensors = 0;            ///< that these are in
  std::int64_t product_parameters = 0;  ///< of those, weights whose gradients are products
  int product_tensors = 0;
  std::int64_t frozen = 0;  ///< numbers beside `parameters` that get no gradients
};

/// Collectives are not in them.
struct ModelBlocks {
  StepBlock embedding;
  StepBlock layer;  ///< all layers are alike
  StepBlock head;   ///< with what is behind the last layer, and the loss
};

/// \pre the model is one stack of layers that are alike.
/// \throws std::invalid_argument naming a part for which the framework has no kernels.
ModelBlocks model_blocks(const TrainingSetup& setup);

}  // namespace c3::workloads
