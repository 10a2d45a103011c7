// Stochastic gradient descent with momentum. Fused as in PyTorch: parameter, gradient and momentum are read,
// parameter and momentum written.

#include <array>

#include "workloads/training/optimizers/optimizer.hpp"

namespace c3 { inline namespace workloads {
namespace {

constexpr std::array kFused = {OptimizerPass{"sgd", VectorOp::sgd}};

// Decay, momentum (two), update.
constexpr std::array kLoops = {OptimizerPass{"sgd", VectorOp::add}, OptimizerPass{"sgd", VectorOp::mul_scalar},
                               OptimizerPass{"sgd", VectorOp::add}, OptimizerPass{"sgd", VectorOp::add}};

}  // namespace

extern constexpr OptimizerEntry kSgd = {
    .name = "sgd", .states = 1, .fused = {.first = kFused}, .loops = {.first = kLoops}};

}}  // namespace c3::workloads
