#include "gpu/kernels/operator.hpp"

#include <algorithm>
#include <stdexcept>

namespace c3 {
namespace {

// Backward of a nonlinear function reads the gradient and what forward saved. A product's backward reads both
// factors again and makes two gradients. Flops: a few for a transcendental, as counted by NeuSight (softmax 5,
// layer norm 6).
constexpr std::array kTraits = {
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
    VectorOpTraits{VectorOp::tanh, "tanh", 1, 1, 2, 1, 1, 0},
    VectorOpTraits{VectorOp::exp, "exp", 1, 1, 2, 1, 1, 0},
    VectorOpTraits{VectorOp::copy, "copy", 1, 1, 1, 1, 0, 0},
    VectorOpTraits{VectorOp::softmax, "softmax", 1, 1, 2, 1, 5, 3},
    VectorOpTraits{VectorOp::layernorm, "layernorm", 1, 1, 2, 1, 6, 2},
    VectorOpTraits{VectorOp::rmsnorm, "rmsnorm", 1, 1, 2, 1, 4, 2},
    VectorOpTraits{VectorOp::reduce, "reduce", 1, 0, 0, 1, 1, 1},
    VectorOpTraits{VectorOp::embedding, "embedding", 1, 1, 2, 1, 0, 0},
    VectorOpTraits{VectorOp::sgd, "sgd", 3, 2, 3, 2, 4, 0},
    VectorOpTraits{VectorOp::adam, "adam", 4, 3, 4, 3, 12, 0},
};

bool is_elementwise(VectorOp op) { return op <= VectorOp::copy; }

}  // namespace

std::string_view name_of(Pass pass) { return pass == Pass::forward ? "forward" : "backward"; }

std::string_view name_of(GemmTraffic traffic) { return traffic == GemmTraffic::tiled ? "tiled" : "streamed"; }

const std::vector<VectorOpTraits>& vector_ops() {
  static const std::vector<VectorOpTraits> kAll(kTraits.begin(), kTraits.end());
  return kAll;
}

const VectorOpTraits& traits(VectorOp op) { return kTraits.at(static_cast<std::size_t>(op)); }

std::string_view name_of(VectorOp op) { return traits(op).name; }

std::optional<VectorOp> vector_op(std::string_view name) {
  const auto* found = std::ranges::find(kTraits, name, &VectorOpTraits::name);
  return found == kTraits.end() ? std::nullopt : std::optional(found->op);
}

void VectorChain::append(VectorOp op) {
  if (length_ == kLongest) throw std::length_error("a fused chain has at most 8 operators");
  if (!is_elementwise(op) || !is_elementwise(first())) {
    throw std::invalid_argument("only elementwise operators can be fused");
  }
  ops_.at(length_++) = op;
}

std::string name_of(const Operator& op) {
  if (std::holds_alternative<GemmShape>(op)) return "gemm";
  if (std::holds_alternative<AttentionShape>(op)) return "attention";
  std::string name;
  for (const VectorOp part : std::get<VectorShape>(op).chain)
    (name += name.empty() ? "" : "+") += name_of(part);
  return name;
}

std::array<GemmShape, 2> backward(const GemmShape& forward) {
  GemmShape of_a = forward;
  of_a.n = forward.k;
  of_a.k = forward.n;
  GemmShape of_b = forward;
  of_b.m = forward.k;
  of_b.k = forward.m;
  return {of_a, of_b};
}

}  // namespace c3
