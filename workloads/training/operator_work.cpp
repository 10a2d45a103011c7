#include "workloads/training/operator_work.hpp"

namespace c3 {

// The last query sees all keys, each one before it one less.
Flops matrix_flops(const Operator& op) {
  if (const auto* gemm = std::get_if<GemmShape>(&op))
    return Flops{2.0 * static_cast<double>(gemm->batch) * static_cast<double>(gemm->m) *
                 static_cast<double>(gemm->n) * static_cast<double>(gemm->k)};
  const auto* attention = std::get_if<AttentionShape>(&op);
  if (attention == nullptr) return {};
  const auto queries = static_cast<double>(attention->queries);
  const auto keys = static_cast<double>(attention->keys);
  const double pairs = queries * (attention->causal ? keys - 0.5 * (queries - 1.0) : keys);
  const double products = attention->pass == Pass::forward ? 2.0 : 5.0;
  return Flops{products * 2.0 * pairs * static_cast<double>(attention->batch * attention->heads) *
               static_cast<double>(attention->head_dim)};
}

namespace {

Bytes written(const VectorShape& shape) {
  const VectorOpTraits& last = traits(*(shape.chain.end() - 1));
  const bool forward = shape.pass == Pass::forward;
  const auto rows = static_cast<double>(shape.rows);
  const double cols =
      shape.chain.first() == VectorOp::reduce && forward ? 1.0 : static_cast<double>(shape.cols);
  const double tensors =
      shape.chain.first() == VectorOp::reduce && forward ? 1.0 : (forward ? last.writes : last.backward_writes);
  return element_size(shape.dtype) * (tensors * rows * cols);
}

Bytes written(const GemmShape& gemm) {
  return element_size(gemm.dtype) *
         (static_cast<double>(gemm.batch) * static_cast<double>(gemm.m) * static_cast<double>(gemm.n));
}

Bytes written(const AttentionShape& shape) {
  const auto width = static_cast<double>(shape.batch * shape.head_dim);
  const double queries = width * static_cast<double>(shape.heads * shape.queries);
  const double keys = width * static_cast<double>(shape.kv_heads * shape.keys);
  return element_size(shape.dtype) * (shape.pass == Pass::forward ? queries : queries + 2.0 * keys);
}

}  // namespace

Bytes output_bytes(const Operator& op) {
  return std::visit([](const auto& shape) { return written(shape); }, op);
}

}  // namespace c3
