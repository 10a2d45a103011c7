#pragma once
/// The kernels of one step of a transformer as a flat list: what eager PyTorch launches, counted.

#include <vector>

#include "studies/kernels/eager/eager_huggingface.hpp"
#include "workloads/models/model_dimensions.hpp"

namespace c3 { inline namespace studies {

using OperatorList = std::vector<PartKernel>;

struct StepOperators {
  OperatorList forward;
  OperatorList loss;      ///< forward of the cross entropy; empty for inference
  OperatorList backward;  ///< of loss and model, in the order of the pass; empty for inference
};

/// One forward pass, and for training the loss and one backward pass. No optimizer.
/// \throws std::invalid_argument when the model does not say its family or vocabulary, has a part that its
/// family has no kernels for, when training is to be fused, or when more experts are busy than there are.
StepOperators step_operators(const ModelDimensions& model, const StepSetup& setup);

}}  // namespace c3::studies
