#pragma once
/// The blocks of a training step on one rank of a tensor-parallel group: a model's parts, lowered to kernels.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "workloads/models/lowering.hpp"
#include "workloads/training/data_parallel.hpp"
#include "workloads/training/routing.hpp"
#include "workloads/training/setup.hpp"

namespace c3 { inline namespace workloads {

struct StepBlock : BlockKernels {
  std::int64_t parameters = 0;          ///< of this rank, in numbers
  int parameter_tensors = 0;            ///< that these are in
  std::int64_t product_parameters = 0;  ///< of those, weights whose gradients are products
  int product_tensors = 0;
  std::int64_t cast_parameters = 0;   ///< of those, what products in the recipe's type multiply with
  FrozenParameters frozen = {};       ///< beside them
  std::int64_t whole_parameters = 0;  ///< of those that are trained, tensor-parallel ranks have them all
  ParameterUnit experts = {};         ///< of those, experts' that have a grid of their own
};

/// Collectives are not in them.
struct ModelBlocks {
  StepBlock embedding;
  std::vector<StepBlock> kinds;      ///< of layers
  std::vector<std::size_t> kind_of;  ///< by layer
  StepBlock head;                    ///< with what is behind the last layer, and the loss

  const StepBlock& layer(std::int64_t number) const {
    return kinds[kind_of.at(static_cast<std::size_t>(number))];
  }
};

/// \pre the model is one stack of layers.
/// \throws std::invalid_argument naming a part for which the framework has no kernels.
ModelBlocks model_blocks(const TrainingSetup& setup, ExpertPosition at = {});

}}  // namespace c3::workloads
