#pragma once
/// What a listed operator runs on a GPU, by its name and arguments alone: a list has no names of kernels.

#include <vector>

#include "workloads/traces/execution/operator_list.hpp"
#include "workloads/traces/retiming/kernel_operator.hpp"

namespace c3 { inline namespace traces {

/// The kernels of \p listed, in order, by the rules of retiming (../retiming/README.md): one, or two for the
/// gradients of a convolution and of a norm. Without an operator where there is no rule; the note says why.
/// Nobody asks for the kernels of a collective.
/// Wrong when: products of fp32 run in TF32, which PyTorch does on request only (its convolutions by cuDNN do);
/// the library takes several kernels where one is expected.
std::vector<KernelOperator> kernels_of(const ListedOperator& listed);

}}  // namespace c3::traces
