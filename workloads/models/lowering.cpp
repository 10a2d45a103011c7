#include "workloads/models/lowering.hpp"

#include <fmt/format.h>

#include <iterator>
#include <stdexcept>
#include <utility>

namespace c3 { inline namespace workloads {

BlockKernels Lowering::lower(std::span<const ModelPart> parts) && {
  write(parts);
  begin(PartId{});
  return std::move(block_);
}

void Lowering::write(std::span<const ModelPart> parts) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    following_ = parts.subspan(i + 1);
    begin(parts[i].id);
    write_part(parts[i]);
  }
}

void Lowering::begin(PartId part) {
  block_.backward.insert(block_.backward.begin(), std::make_move_iterator(part_backward_.begin()),
                         std::make_move_iterator(part_backward_.end()));
  part_backward_.clear();
  part_ = part;
}

PartKernel& Lowering::push_forward(const Operator& op) {
  return block_.forward.emplace_back(PartKernel{.part = part_, .op = op});
}

PartKernel& Lowering::push_backward(const Operator& op) {
  return part_backward_.emplace_back(PartKernel{.part = part_, .op = op});
}

PartKernel& Lowering::push_backward_first(const Operator& op) {
  return *part_backward_.insert(part_backward_.begin(), PartKernel{.part = part_, .op = op});
}

void Lowering::refuse() const {
  throw std::invalid_argument(fmt::format("the framework has no kernels for '{}'", name_of(part_)));
}

VectorShape vector_shape(VectorChain chain, TensorShape tensor, DType dtype, Pass pass) {
  return {.chain = chain, .rows = tensor.rows, .cols = tensor.cols, .dtype = dtype, .pass = pass};
}

}}  // namespace c3::workloads
