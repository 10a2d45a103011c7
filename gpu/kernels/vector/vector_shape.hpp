#pragma once
/// Operators without a matrix product.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "gpu/kernels/operator.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace gpu {

/// They move bytes; what they compute seldom matters.
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
  silu,
  tanh,
  exp,
  copy,
  // along each row
  softmax,
  layernorm,
  rmsnorm,
  layernorm_quantize,  ///< a norm that scales its output and casts it to fp8
  rmsnorm_quantize,
  reduce,  ///< a row to one number
  // tables
  embedding,        ///< looks up a row for each of `rows` tokens; backward adds into the table's gradient
  absmax,           ///< largest magnitude of a tensor: the scale of its quantisation
  quantize,         ///< scales a 16-bit tensor and casts it to fp8
  quantize_rows,    ///< the same, with a scale for each 128 elements of a row, which it finds itself
  quantize_blocks,  ///< the same of each 128 x 128 elements
  quantize_mx,      ///< the same of each 32 elements of a row, an exponent of 8 bits
  quantize_nv,      ///< the same of each 16 elements of a row, to fp4
  quantize_mx9,     ///< casts fp32 to MX9: sign and 7 bits, 16 elements of a row share an exponent, pairs a bit
  quantize_mx6,     ///< the same to MX6: sign and 4 bits
  // the same, with a copy for products that go along the columns
  quantize_both,
  quantize_rows_both,
  quantize_blocks_both,
  quantize_mx_both,
  quantize_mx9_both,
  quantize_mx6_both,
  quantize_nv_both,
  sgd,   ///< optimizer step with momentum, fp32 state
  adam,  ///< optimizer step, two fp32 moments
  // kernels that work out by divisions where an element lies
  add_bias,       ///< adds a bias to each column; backward sums a gradient over the rows
  add_bias_nchw,  ///< the same of the channels of images in NCHW
  concatenate,    ///< copies tensors side by side, column by column, into one of rows x cols
};

/// What shares a scale that an operator writes beside its tensor.
struct ScaledBlock {
  std::int64_t rows = 0;  ///< 0: it writes none
  std::int64_t cols = 0;
  double scale = 0;           ///< bytes
  bool is_both_ways = false;  ///< and the same of the transposed tensor
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
  ScaledBlock block = {};
};

/// Every operator, in the order of the enumeration. Shared microexponents (MX9, MX6): arXiv 2302.08007, figure
/// 2; an exponent of 8 bits and 8 bits of pairs are the 2 bytes of a block. Backward of a nonlinear function
/// reads the gradient and what forward saved. A product's backward reads both factors again and makes two
/// gradients. Flops: a few for a transcendental, as counted by NeuSight (softmax 5, layer norm 6).
inline constexpr std::array kVectorOps = {
    VectorOpTraits{VectorOp::add, "add", 2, 1, 1, 2, 1, 0},
    VectorOpTraits{VectorOp::sub, "sub", 2, 1, 1, 2, 1, 0},
    VectorOpTraits{VectorOp::mul, "mul", 2, 1, 3, 2, 1, 0},
    VectorOpTraits{VectorOp::div, "div", 2, 1, 3, 2, 1, 0},
    VectorOpTraits{VectorOp::pow, "pow", 2, 1, 4, 2, 1, 0},
    VectorOpTraits{VectorOp::add_scalar, "addu", 1, 1, 1, 1, 1, 0},
    VectorOpTraits{VectorOp::sub_scalar, "subu", 1, 1, 1, 1, 1, 0},
    VectorOpTraits{VectorOp::mul_scalar, "mulu", 1, 1, 1, 1, 1, 0},
    VectorOpTraits{VectorOp::div_scalar, "divu", 1, 1, 1, 1, 1, 0},
    VectorOpTraits{VectorOp::pow_scalar, "powu", 1, 1, 2, 1, 1, 0},
    VectorOpTraits{VectorOp::relu, "relu", 1, 1, 2, 1, 1, 0},
    VectorOpTraits{VectorOp::gelu, "gelu", 1, 1, 2, 1, 1, 0},
    VectorOpTraits{VectorOp::silu, "silu", 1, 1, 2, 1, 1, 0},
    VectorOpTraits{VectorOp::tanh, "tanh", 1, 1, 2, 1, 1, 0},
    VectorOpTraits{VectorOp::exp, "exp", 1, 1, 2, 1, 1, 0},
    VectorOpTraits{VectorOp::copy, "copy", 1, 1, 1, 1, 0, 0},
    VectorOpTraits{VectorOp::softmax, "softmax", 1, 1, 2, 1, 5, 3},
    VectorOpTraits{VectorOp::layernorm, "layernorm", 1, 1, 2, 1, 6, 2},
    VectorOpTraits{VectorOp::rmsnorm, "rmsnorm", 1, 1, 2, 1, 4, 2},
    VectorOpTraits{VectorOp::layernorm_quantize, "layernorm_quantize", 1, 0.5, 2, 1, 7, 2},
    VectorOpTraits{VectorOp::rmsnorm_quantize, "rmsnorm_quantize", 1, 0.5, 2, 1, 5, 2},
    VectorOpTraits{VectorOp::reduce, "reduce", 1, 0, 0, 1, 1, 1},
    VectorOpTraits{VectorOp::embedding, "embedding", 1, 1, 2, 1, 0, 0},
    VectorOpTraits{VectorOp::absmax, "absmax", 1, 0, 1, 0, 1, 0},
    VectorOpTraits{VectorOp::quantize, "quantize", 1, 0.5, 1, 0.5, 1, 0},
    VectorOpTraits{VectorOp::quantize_rows, "quantize_1x128", 1, 0.5, 1, 0.5, 2, 0, {1, 128, 4}},
    VectorOpTraits{VectorOp::quantize_blocks, "quantize_128x128", 1, 0.5, 1, 0.5, 2, 0, {128, 128, 4}},
    VectorOpTraits{VectorOp::quantize_mx, "quantize_mx", 1, 0.5, 1, 0.5, 2, 0, {1, 32, 1}},
    VectorOpTraits{VectorOp::quantize_nv, "quantize_nv", 1, 0.25, 1, 0.25, 2, 0, {1, 16, 1}},
    VectorOpTraits{VectorOp::quantize_mx9, "quantize_mx9", 1, 8.0 / 32, 1, 8.0 / 32, 2, 0, {1, 16, 2}},
    VectorOpTraits{VectorOp::quantize_mx6, "quantize_mx6", 1, 5.0 / 32, 1, 5.0 / 32, 2, 0, {1, 16, 2}},
    VectorOpTraits{VectorOp::quantize_both, "quantize_both", 1, 1, 1, 1, 1, 0},
    VectorOpTraits{VectorOp::quantize_rows_both, "quantize_1x128_both", 1, 1, 1, 1, 4, 0, {1, 128, 4, true}},
    VectorOpTraits{
        VectorOp::quantize_blocks_both, "quantize_128x128_both", 1, 1, 1, 1, 2, 0, {128, 128, 4, true}},
    VectorOpTraits{VectorOp::quantize_mx_both, "quantize_mx_both", 1, 1, 1, 1, 4, 0, {1, 32, 1, true}},
    VectorOpTraits{
        VectorOp::quantize_mx9_both, "quantize_mx9_both", 1, 16.0 / 32, 1, 16.0 / 32, 4, 0, {1, 16, 2, true}},
    VectorOpTraits{
        VectorOp::quantize_mx6_both, "quantize_mx6_both", 1, 10.0 / 32, 1, 10.0 / 32, 4, 0, {1, 16, 2, true}},
    VectorOpTraits{VectorOp::quantize_nv_both, "quantize_nv_both", 1, 0.5, 1, 0.5, 4, 0, {1, 16, 1, true}},
    VectorOpTraits{VectorOp::sgd, "sgd", 3, 2, 3, 2, 4, 0},
    VectorOpTraits{VectorOp::adam, "adam", 4, 3, 4, 3, 12, 0},
    VectorOpTraits{VectorOp::add_bias, "add_bias", 1, 1, 1, 0, 1, 0},
    VectorOpTraits{VectorOp::add_bias_nchw, "add_bias_nchw", 1, 1, 1, 0, 1, 0},
    VectorOpTraits{VectorOp::concatenate, "concatenate", 1, 1, 1, 1, 0, 0},
};

const VectorOpTraits& traits(VectorOp op);
std::string_view name_of(VectorOp op);
std::optional<VectorOp> vector_op(std::string_view name);
bool is_optimizer(VectorOp op);

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
  bool is_eager = false;                  ///< a norm by PyTorch's own kernel, a work group a row however short
  WarmOperands warm = WarmOperands::all;  ///< all or none: also of what it writes (VectorTraffic)

  bool operator==(const VectorShape&) const = default;
};

const OperatorClass& operator_class(const VectorShape& shape);

/// Layer and RMS norms that write their input's type, which PyTorch has kernels of its own for.
bool has_eager_kernel(VectorOp op);

/// Bytes of the scales that \p shape writes beside its tensor.
Bytes scale_bytes(const VectorShape& shape);

/// How many tensors of its rows, columns and type \p shape reads and writes, scales included, each once.
struct TensorCounts {
  double reads = 0.0;
  double writes = 0.0;
};
TensorCounts tensors_of(const VectorShape& shape);

}}  // namespace c3::gpu
