#pragma once
/// What a kernel computes: an operator of one of three classes, with its shape. Shapes say nothing of a GPU.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "gpu/spec.hpp"

namespace c3 {

/// Which half of a training step. A backward operator takes the gradient of its output and makes those of its
/// inputs.
enum class Pass { forward, backward };
std::string_view name_of(Pass pass);

/// Where a GEMM's loads come from.
enum class GemmTraffic : std::uint8_t {
  tiled,     ///< as its tiles share them, in L2 and in the LLC
  streamed,  ///< most of them from HBM, for reasons that its geometry does not show (StreamedSpec)
};
std::string_view name_of(GemmTraffic traffic);

/// C[m,n] = A[m,k] B[k,n], per GPU; `batch` of them, each with operands of its own.
struct GemmShape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  DType dtype = DType::bf16;
  std::int64_t batch = 1;
  GemmTraffic traffic = GemmTraffic::tiled;

  bool operator==(const GemmShape&) const = default;
};

/// Which kernel computes attention.
enum class AttentionKernel : std::uint8_t {
  newest,  ///< the vendor's libraries', with all that a GPU has
  flash2,  ///< FlashAttention-2, without what came with Hopper
};

/// softmax(Q K^T) V in one kernel that never writes the scores (flash attention), over `batch` sequences.
struct AttentionShape {
  std::int64_t batch = 1;
  std::int64_t heads = 0;     ///< of queries
  std::int64_t kv_heads = 0;  ///< of keys and values; a divisor of `heads`
  std::int64_t queries = 0;   ///< of one sequence
  std::int64_t keys = 0;      ///< of one sequence, cached ones included
  std::int64_t head_dim = 0;
  bool causal = false;  ///< a query sees the keys up to its own place; the last query sees all
  DType dtype = DType::bf16;
  Pass pass = Pass::forward;
  AttentionKernel kernel = AttentionKernel::newest;

  bool operator==(const AttentionShape&) const = default;
};

/// Operators without a matrix product. They move bytes; what they compute seldom matters.
enum class VectorOp : std::uint8_t {
  // two tensors in, one out
  add,
  sub,
  mul,
  div,
  pow,
  // a tensor and a scalar in, one tensor out
  add_scalar,
  sub_scalar,
  mul_scalar,
  div_scalar,
  pow_scalar,
  // one tensor in, one out
  relu,
  gelu,
  tanh,
  exp,
  copy,
  // along each row
  softmax,
  layernorm,
  rmsnorm,
  reduce,  ///< a row to one number
  // tables
  embedding,  ///< looks up a row for each of `rows` tokens; backward adds into the table's gradient
  sgd,        ///< optimizer step with momentum, fp32 state
  adam,       ///< optimizer step, two fp32 moments
};

/// What one element of an operator costs. "Tensors" are counted in tensors of rows x cols.
struct VectorOpTraits {
  VectorOp op;
  std::string_view name;
  double reads;            ///< tensors read, forward
  double writes;           ///< tensors written, forward
  double backward_reads;   ///< tensors read, backward
  double backward_writes;  ///< tensors written, backward
  double flops;            ///< of one element, forward
  int row_passes;          ///< how often a row is gone through; 0: the operator does not know rows
};

/// Every operator, in the order of the enumeration.
const std::vector<VectorOpTraits>& vector_ops();
const VectorOpTraits& traits(VectorOp op);
std::string_view name_of(VectorOp op);
std::optional<VectorOp> vector_op(std::string_view name);

/// Elementwise operators that one kernel applies one after another, each to the result of the one before.
class VectorChain {
 public:
  static constexpr std::size_t kLongest = 8;
  VectorChain(VectorOp only) : ops_{only}, length_(1) {}  // NOLINT(google-explicit-constructor): one is a chain
  /// \throws std::length_error past kLongest, std::invalid_argument when an operator of several is not
  /// elementwise.
  void append(VectorOp op);
  VectorOp first() const { return ops_.front(); }
  const VectorOp* begin() const { return ops_.data(); }
  const VectorOp* end() const { return ops_.data() + length_; }
  bool operator==(const VectorChain&) const = default;

 private:
  std::array<VectorOp, kLongest> ops_{};
  std::size_t length_ = 0;
};

/// A vector operator, or a fused chain of elementwise ones, on tensors of rows x cols.
struct VectorShape {
  VectorChain chain = VectorOp::copy;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  DType dtype = DType::fp32;
  Pass pass = Pass::forward;

  bool operator==(const VectorShape&) const = default;
};

using Operator = std::variant<GemmShape, AttentionShape, VectorShape>;

/// "gemm", "attention", or the chain's names joined by '+'.
std::string name_of(const Operator& op);

/// The two products of a product's backward pass: gradient of A[m,k] and gradient of B[k,n].
std::array<GemmShape, 2> backward(const GemmShape& forward);

}  // namespace c3
