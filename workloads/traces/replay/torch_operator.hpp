#pragma once
/// Kernels as the operators of PyTorch that launch them, with the arguments that its profiler records.

#include <string>

#include "gpu/kernels/operator.hpp"

namespace c3 { inline namespace traces {

/// A `cpu_op` of a trace.
struct TorchOperator {
  std::string name;  ///< "aten::mm"
  std::string args;  ///< a JSON object: "Input Dims", "Input type", "Concrete Inputs"
};

/// Products are `aten::mm`, `aten::bmm` and `aten::_scaled_mm` (fp8), attention PyTorch's scaled dot product,
/// vector operators those of `aten`. What PyTorch has no operator for is one of namespace `c3sim`, called as in
/// tables of kernels, whose concrete inputs are the words of its row, such as "cols=4096": chains that a
/// compiler fused, optimizer steps, backward passes of what is no softmax and no norm, products that are
/// streamed from HBM.
TorchOperator torch_operator(const Operator& op);

}}  // namespace c3::traces
