#pragma once
/// The kernels of one step of a transformer: what eager PyTorch launches, counted.

#include "workloads/models/model_dimensions.hpp"
#include "workloads/models/operator_list.hpp"

namespace c3 {

/// One forward pass, and for training the loss and one backward pass. No optimizer.
/// \throws std::invalid_argument when the model does not say its family or vocabulary, when training is to be
/// fused, or when more experts are busy than there are.
StepOperators step_operators(const ModelDimensions& model, const StepSetup& setup);

}  // namespace c3
