// LAMB (arXiv 1904.00962): Adam's direction with decay, scaled for each tensor by the norm of its parameters
// over the norm of the direction. Fused as in NVIDIA/apex, csrc/multi_tensor_lamb.cu and
// multi_tensor_l2norm_kernel.cu: a first stage reads parameter, gradient (which it divides by the norm of all)
// and moments and writes moments and direction, a norm of each tensor reads parameters and another directions,
// and a second stage reads both and writes parameters.

#include <array>

#include "workloads/training/optimizers/optimizer.hpp"

namespace c3 { inline namespace workloads {
namespace {

// Adam's kernel reads and writes as many tensors as the first stage, an addition as many as the second.
constexpr std::array kFirst = {OptimizerPass{"lamb stage 1", VectorOp::adam},
                               OptimizerPass{"lamb norm of parameters", VectorOp::reduce},
                               OptimizerPass{"lamb norm of directions", VectorOp::reduce}};
constexpr std::array kThen = {OptimizerPass{"lamb stage 2", VectorOp::add}};

// First moment, second moment (two each), root, correction, epsilon, quotient, decay.
constexpr std::array kLoops = {OptimizerPass{"lamb stage 1", VectorOp::mul_scalar},
                               OptimizerPass{"lamb stage 1", VectorOp::add},
                               OptimizerPass{"lamb stage 1", VectorOp::mul_scalar},
                               OptimizerPass{"lamb stage 1", VectorOp::add},
                               OptimizerPass{"lamb stage 1", VectorOp::pow_scalar},
                               OptimizerPass{"lamb stage 1", VectorOp::mul_scalar},
                               OptimizerPass{"lamb stage 1", VectorOp::add_scalar},
                               OptimizerPass{"lamb stage 1", VectorOp::div},
                               OptimizerPass{"lamb stage 1", VectorOp::add},
                               OptimizerPass{"lamb norm of parameters", VectorOp::reduce},
                               OptimizerPass{"lamb norm of directions", VectorOp::reduce}};

}  // namespace

extern constexpr OptimizerEntry kLamb = {.name = "lamb",
                                         .states = 2,
                                         .fused = {.first = kFirst, .then = kThen},
                                         .loops = {.first = kLoops, .then = kThen},
                                         .clips = true};

}}  // namespace c3::workloads
