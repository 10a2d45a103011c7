#include "gpu/kernels/vector/vector_shape.hpp"

#include <algorithm>
#include <stdexcept>

#include "gpu/kernels/tiling.hpp"

namespace c3 { inline namespace gpu {
namespace {

bool is_elementwise(VectorOp op) { return op <= VectorOp::copy; }

}  // namespace

const VectorOpTraits& traits(VectorOp op) { return kVectorOps.at(static_cast<std::size_t>(op)); }

std::string_view name_of(VectorOp op) { return traits(op).name; }

std::optional<VectorOp> vector_op(std::string_view name) {
  const auto* found = std::ranges::find(kVectorOps, name, &VectorOpTraits::name);
  return found == kVectorOps.end() ? std::nullopt : std::optional(found->op);
}

bool has_eager_kernel(VectorOp op) { return op == VectorOp::layernorm || op == VectorOp::rmsnorm; }

bool is_optimizer(VectorOp op) { return op == VectorOp::adam || op == VectorOp::sgd; }

Bytes scale_bytes(const VectorShape& shape) {
  const ScaledBlock& block = traits(shape.chain.first()).block;
  if (block.rows == 0) return Bytes{};
  std::int64_t blocks = ceil_div(shape.rows, block.rows) * ceil_div(shape.cols, block.cols);
  if (block.is_both_ways) blocks += ceil_div(shape.rows, block.cols) * ceil_div(shape.cols, block.rows);
  return Bytes{block.scale * static_cast<double>(blocks)};
}

namespace {

/// Tensors that an optimizer goes through, in tensors of the parameters' type; its state is fp32 whatever that
/// is.
TensorCounts of_optimizer(const VectorShape& shape) {
  constexpr double kState = 4.0;  // bytes
  const VectorOpTraits& of = traits(shape.chain.first());
  const double element = element_size(shape.dtype).value;
  return {.reads = 1.0 + (of.reads - 1.0) * kState / element,  // gradient; fp32 parameters and moments
          .writes = 1.0 + of.writes * kState / element};       // parameters in both types, moments
}

}  // namespace

TensorCounts tensors_of(const VectorShape& shape) {
  const bool forward = shape.pass == Pass::forward;
  const VectorOp first = shape.chain.first();
  if (is_optimizer(first) && shape.dtype != DType::fp32) return of_optimizer(shape);
  TensorCounts tensors;
  for (const VectorOp& op : shape.chain) {
    const VectorOpTraits& of = traits(op);
    // What one operator hands to the next stays in registers: neither written nor read.
    const double handed_on = &op == shape.chain.begin() ? 0.0 : 1.0;
    tensors.reads += (forward ? of.reads : of.backward_reads) - handed_on;
    tensors.writes += (forward ? of.writes : of.backward_writes) - handed_on;
  }
  const double elements = static_cast<double>(shape.rows) * static_cast<double>(shape.cols);
  tensors.writes += scale_bytes(shape).value / (elements * element_size(shape.dtype).value);
  if (first == VectorOp::reduce && forward) tensors.writes = 1.0 / static_cast<double>(shape.cols);
  if (first == VectorOp::reduce && !forward) tensors.reads = 1.0 / static_cast<double>(shape.cols);
  return tensors;
}

void VectorChain::append(VectorOp op) {
  if (length_ == kLongest) throw std::length_error("a fused chain has at most 8 operators");
  if (!is_elementwise(op) || !is_elementwise(first())) {
    throw std::invalid_argument("only elementwise operators can be fused");
  }
  ops_.at(length_++) = op;
}

}}  // namespace c3::gpu
