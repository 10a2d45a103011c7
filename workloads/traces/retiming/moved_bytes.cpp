#include "workloads/traces/retiming/moved_bytes.hpp"

#include <cmath>

namespace c3 { inline namespace traces {

std::optional<VectorShape> shape_that_moves(const Moved& moved, DType dtype, VectorOp unary, VectorOp binary) {
  constexpr double kLargest = 1e15;  // bytes
  constexpr double kMostSummed = 4;  // tensors
  const double element = element_size(dtype).value;
  if (!(moved.written + moved.read > 0) || moved.written + moved.read > kLargest) return std::nullopt;
  VectorShape shape;
  shape.dtype = dtype;
  shape.rows = 1;
  const double tensors = moved.written > 0 ? moved.read / moved.written : 0.0;
  const double whole = std::round(tensors);
  constexpr double kNear = 0.02;
  if (std::abs(tensors - whole) > kNear || whole < 1 || whole > kMostSummed) {
    shape.cols = std::llround(std::ceil((moved.read + moved.written) / 2.0 / element));
    return shape;
  }
  shape.cols = std::llround(std::ceil(moved.written / element));
  shape.chain = whole < 2 ? unary : binary;
  for (int more = 2; more < static_cast<int>(whole); ++more)
    shape.chain.append(VectorOp::add);
  return shape;
}

double bytes_of(const OpArgument& argument) {
  return static_cast<double>(argument.elements()) *
         static_cast<double>(bytes_of_type(argument.type).value_or(4));
}

DType counted_as(std::string_view type) {
  const std::optional<DType> dtype = dtype_of(type);
  return dtype == DType::bf16 || dtype == DType::fp16 ? *dtype : DType::fp32;
}

const OpArgument* first_tensor(const LaunchedKernel& kernel) {
  for (const OpArgument& argument : *kernel.arguments) {
    if (argument.elements() > 0) return &argument;
  }
  return nullptr;
}

KernelOperator operator_that_moves(const Moved& moved, DType dtype, VectorOp unary, VectorOp binary,
                                   std::string_view rule) {
  const std::optional<VectorShape> shape = shape_that_moves(moved, dtype, unary, binary);
  return shape ? found(*shape, rule) : not_found("moves no bytes that its shapes show");
}

}}  // namespace c3::traces
