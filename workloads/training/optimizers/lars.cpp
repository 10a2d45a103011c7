// LARS (arXiv 1708.03888): SGD with momentum, whose rate is scaled for each tensor by the norm of its
// parameters over that of its gradient. Fused as in NVIDIA/apex, apex/parallel/LARC.py and
// csrc/multi_tensor_sgd_kernel.cu.

#include <array>

#include "workloads/training/optimizers/optimizer.hpp"

namespace c3 { inline namespace workloads {
namespace {

constexpr std::array kNorms = {OptimizerPass{"lars norm of parameters", VectorOp::reduce},
                               OptimizerPass{"lars norm of gradients", VectorOp::reduce}};
constexpr std::array kFused = {OptimizerPass{"lars update", VectorOp::sgd}};

// Decay, momentum (two), update.
constexpr std::array kLoops = {
    OptimizerPass{"lars update", VectorOp::add}, OptimizerPass{"lars update", VectorOp::mul_scalar},
    OptimizerPass{"lars update", VectorOp::add}, OptimizerPass{"lars update", VectorOp::add}};

}  // namespace

extern constexpr OptimizerEntry kLars = {.name = "lars",
                                         .states = 1,
                                         .fused = {.first = kNorms, .then = kFused},
                                         .loops = {.first = kNorms, .then = kLoops}};

}}  // namespace c3::workloads
