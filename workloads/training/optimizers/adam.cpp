// Adam and AdamW (arXiv 1412.6980, 1711.05101): two moments. Fused as in apex and PyTorch: parameter, gradient
// and moments are read, parameter and moments written.

#include <array>

#include "workloads/training/optimizers/optimizer.hpp"

namespace c3 { inline namespace workloads {
namespace {

constexpr std::array kFused = {OptimizerPass{"adam", VectorOp::adam}};

// Decay, first moment, second moment (two), root, correction, epsilon, update.
constexpr std::array kLoops = {
    OptimizerPass{"adam", VectorOp::mul_scalar}, OptimizerPass{"adam", VectorOp::add},
    OptimizerPass{"adam", VectorOp::mul_scalar}, OptimizerPass{"adam", VectorOp::add},
    OptimizerPass{"adam", VectorOp::pow_scalar}, OptimizerPass{"adam", VectorOp::mul_scalar},
    OptimizerPass{"adam", VectorOp::add_scalar}, OptimizerPass{"adam", VectorOp::add}};

}  // namespace

extern constexpr OptimizerEntry kAdam = {
    .name = "adam", .states = 2, .fused = {.first = kFused}, .loops = {.first = kLoops}};

}}  // namespace c3::workloads
