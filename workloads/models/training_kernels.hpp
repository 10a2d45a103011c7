#pragma once
/// The kernels that a training framework launches for parts of a model.

#include <span>

#include "workloads/models/framework.hpp"
#include "workloads/models/lowering.hpp"
#include "workloads/models/token_batch.hpp"

namespace c3 { inline namespace workloads {

/// The kernels of \p parts under \p framework. What a layer keeps: arXiv 2205.05198, section 4. Attention is
/// `kernel`, or `scores`, `softmax` and `values`.
/// \throws std::invalid_argument naming a part for which no training framework has kernels, such as experts.
/// Wrong when: another version of the framework launches other kernels.
BlockKernels lower(std::span<const ModelPart> parts, const Framework& framework, const TokenBatch& batch);

/// Number of tensors in which \p framework has the weights and biases of \p parts.
int parameter_tensors(std::span<const ModelPart> parts, const Framework& framework);

}}  // namespace c3::workloads
