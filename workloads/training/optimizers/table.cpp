// The table of optimizers: one line each, in the order in which they are listed.

#include <array>

#include "workloads/training/optimizers/optimizer.hpp"

namespace c3 { inline namespace workloads {

extern const OptimizerEntry kLamb, kLars, kSgd;

namespace {

constexpr std::array kTable = {Optimizer(kAdam), Optimizer(kLamb), Optimizer(kLars), Optimizer(kSgd)};

}  // namespace

constinit const std::span<const Optimizer> kOptimizers = kTable;

std::string_view name_of(Optimizer optimizer) { return optimizer->name; }

}}  // namespace c3::workloads
