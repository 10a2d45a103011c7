#include "gpu/kernels/vector/vector_shape.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "gpu/kernels/tiling.hpp"

namespace c3::inline gpu {
namespace {

bool is_elementwise(VectorOp op) { return op <= VectorOp::copy; }

}  // namespace

const VectorOpTraits& traits(VectorOp op) { return kVectorOps.at(static_cast<std::size_t>(op)); }

std::string_view name_of(VectorOp op) { return traits(op).name; }

std::optional<VectorOp> vector_op(std::string_view name) {
  const auto* found = std::ranges::find(kVectorOps, name, &VectorOpTraits::name);
  return found == kVectorOps.end() ? std::nullopt : std::optional(found->op);
}

Bytes scale_bytes(const VectorShape& shape) {
  const ScaledBlock& block = traits(shape.chain.first()).block;
  if (block.rows == 0) return Bytes{};
  std::int64_t blocks = ceil_div(shape.rows, block.rows) * ceil_div(shape.cols, block.cols);
  if (block.is_both_ways) blocks += ceil_div(shape.rows, block.cols) * ceil_div(shape.cols, block.rows);
  return Bytes{block.scale * static_cast<double>(blocks)};
}

void VectorChain::append(VectorOp op) {
  if (length_ == kLongest) throw std::length_error("a fused chain has at most 8 operators");
  if (!is_elementwise(op) || !is_elementwise(first())) {
    throw std::invalid_argument("only elementwise operators can be fused");
  }
  ops_.at(length_++) = op;
}

}  // namespace c3::gpu
