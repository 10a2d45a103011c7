#pragma once
/// What a training step counts of its operators: arithmetic and output.

#include "gpu/kernels/operator.hpp"

namespace c3 {

/// Of a matrix product or of attention, whose masked scores do not count; of other operators none.
Flops matrix_flops(const Operator& op);

/// What \p op writes.
Bytes output_bytes(const Operator& op);

}  // namespace c3
