#include "workloads/models/precision/precision_setup.hpp"

namespace c3 { inline namespace workloads {

double bytes_of_number(VectorOp cast) {
  constexpr double kFrom = 2.0;  // bytes, of which `writes` counts tensors
  const VectorOpTraits& op = traits(cast);
  const double scale =
      op.block.rows > 0 ? op.block.scale / static_cast<double>(op.block.rows * op.block.cols) : 0.0;
  return kFrom * op.writes + scale * (op.block.is_both_ways ? 2.0 : 1.0);
}

double copied_bytes_of_weight(const PrecisionSetup& precision) {
  const TensorCasts& casts = precision.recipe->weights;
  return bytes_of_number(precision.keeps_two_copies() ? casts.both : casts.rows);
}

double gathered_bytes_of_weight(const PrecisionSetup& precision, Bytes in_16_bits) {
  return precision.gathers_cast() ? bytes_of_number(precision.recipe->weights.rows) : in_16_bits.value;
}

}}  // namespace c3::workloads
