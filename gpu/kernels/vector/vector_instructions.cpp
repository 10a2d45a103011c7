#include "gpu/kernels/vector/vector_instructions.hpp"

#include <algorithm>

namespace c3 { inline namespace gpu {
namespace {

/// Beside loads, stores and conversions.
struct Arithmetic {
  VectorOp op;
  double forward;
  double backward;
};

/// Operators that are not here take one. Measured: add, mul, relu, gelu, reduce, norms, softmax, adam, biases
/// and concatenate (of images in NHWC; in NCHW it is a copy). silu is exp, a sum and a division, of which the
/// latter two are assumed; so are tanh and sgd. Norms backward are a kernel for their input and one for their
/// parameters, which the counts were divided between by judgement.
constexpr std::array kArithmetic = {
    Arithmetic{VectorOp::mul, 1, 2},
    Arithmetic{VectorOp::div, 9, 18},
    Arithmetic{VectorOp::div_scalar, 9, 9},
    Arithmetic{VectorOp::relu, 5, 5},
    Arithmetic{VectorOp::gelu, 26, 38},
    Arithmetic{VectorOp::silu, 20, 24},
    Arithmetic{VectorOp::tanh, 20, 3},
    Arithmetic{VectorOp::exp, 9, 1},
    Arithmetic{VectorOp::copy, 0, 0},
    Arithmetic{VectorOp::softmax, 23, 4},
    Arithmetic{VectorOp::layernorm, 26, 24},
    Arithmetic{VectorOp::rmsnorm, 6.5, 16},
    Arithmetic{VectorOp::reduce, 2.3, 0},
    Arithmetic{VectorOp::sgd, 4, 4},
    Arithmetic{VectorOp::adam, 43, 43},
    Arithmetic{VectorOp::add_bias, 53, 3.3},
    Arithmetic{VectorOp::add_bias_nchw, 67, 40},
    Arithmetic{VectorOp::concatenate, 47.5, 0},
};

double arithmetic(VectorOp op, Pass pass) {
  const auto* found = std::ranges::find(kArithmetic, op, &Arithmetic::op);
  if (found == kArithmetic.end()) return 1.0;
  return pass == Pass::forward ? found->forward : found->backward;
}

bool is_cast(VectorOp op) { return op >= VectorOp::quantize && op <= VectorOp::quantize_nv_both; }

/// Each of two copies is scaled and cast by itself; where a kernel finds the scales itself, that is as much
/// again.
double casts_of(VectorOp op) {
  const bool makes_two = op >= VectorOp::quantize_both && op <= VectorOp::quantize_nv_both;
  return std::max(traits(op).flops, makes_two ? 2.0 : 1.0);
}

double arithmetic_of(VectorOp op, Pass pass, const VectorCoefficients& coefficients) {
  if (op == VectorOp::pow || op == VectorOp::pow_scalar) return coefficients.power_ops;
  if (op == VectorOp::embedding) return coefficients.lookup_ops;
  if (op == VectorOp::absmax) return coefficients.absmax_ops;
  if (op == VectorOp::layernorm_quantize) return arithmetic(VectorOp::layernorm, pass) + coefficients.cast_ops;
  if (op == VectorOp::rmsnorm_quantize) return arithmetic(VectorOp::rmsnorm, pass) + coefficients.cast_ops;
  if (is_cast(op)) return coefficients.cast_ops * casts_of(op);
  return arithmetic(op, pass);
}

/// Numbers of one element that go in and out.
double accesses_of(const VectorShape& shape, double passes) {
  const bool forward = shape.pass == Pass::forward;
  double reads = 0;
  double writes = 0;
  for (const VectorOp& op : shape.chain) {
    const VectorOpTraits& of = traits(op);
    const double handed_on = &op == shape.chain.begin() ? 0.0 : 1.0;
    reads += (forward ? of.reads : of.backward_reads) - handed_on;
    writes += (forward ? of.writes : of.backward_writes) - handed_on;
  }
  return reads * passes + writes;
}

}  // namespace

double instructions_of(const VectorShape& shape, const VectorCoefficients& coefficients, double passes) {
  const bool is_narrow = shape.dtype != DType::fp32;
  double accesses = accesses_of(shape, passes);
  double conversions = is_narrow ? accesses : 0.0;
  if (is_narrow &&
      is_optimizer(shape.chain.first())) {  // a 16-bit copy more, all else but the gradient in fp32
    accesses += 1.0;
    conversions = 2.0;
  }
  double instructions = accesses * coefficients.access_ops + conversions * coefficients.convert_ops;
  for (const VectorOp op : shape.chain)
    instructions += arithmetic_of(op, shape.pass, coefficients);
  return instructions;
}

double instructions_per_second(const GpuSpec& gpu) {
  return gpu.family.issue_lanes * gpu.kernels.vector.issue_share * gpu.compute.boost_clock.value;
}

}}  // namespace c3::gpu
