#pragma once
/// Bytes that a kernel without a product moves, as an operator that moves as many.

#include <optional>
#include <string_view>

#include "gpu/kernels/vector/vector_shape.hpp"
#include "workloads/traces/retiming/derivation.hpp"

namespace c3 { inline namespace traces {

struct Moved {
  double read = 0;  ///< bytes
  double written = 0;
};

/// A kernel that moves these bytes and computes little: one tensor in and one out, a sum of several, or a
/// copy of their mean where sizes differ. Absent for none, or more than a GPU can hold. \param unary, binary
/// how it is called where it reads one or two tensors
std::optional<VectorShape> shape_that_moves(const Moved& moved, DType dtype, VectorOp unary, VectorOp binary);

/// The same as a result, with a reason where there is none.
KernelOperator operator_that_moves(const Moved& moved, DType dtype, VectorOp unary, VectorOp binary,
                                   std::string_view rule);

/// Bytes of all tensors of an argument; what has no recorded type counts 4 bytes an element.
double bytes_of(const OpArgument& argument);

/// The type that a kernel's elements are counted in: 16-bit ones as they are, all others as 4 bytes.
DType counted_as(std::string_view type);

/// Nullptr without one.
const OpArgument* first_tensor(const LaunchedKernel& kernel);

}}  // namespace c3::traces
