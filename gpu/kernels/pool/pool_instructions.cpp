#include "gpu/kernels/pool/pool_instructions.hpp"

#include <algorithm>
#include <array>

namespace c3::inline gpu {
namespace {

// "Integer division and modulo operation are costly as they compile to up to 20 instructions": NVIDIA, CUDA C++
// Programming Guide, section Arithmetic Instructions.
constexpr double kIntegerDivision = 20;
constexpr double kDivision = 9;  // of fp32, as of the elementwise operator `div`

/// Instructions beside loads, stores and conversions of a tensor's numbers.
struct PoolCounts {
  PoolOp op;
  Pass pass;
  double divisions;  ///< of integers, of a thread
  double thread;     ///< other ones of a thread
  double row;        ///< of a row of a window, or of a row of windows
  double tap;        ///< of an element of a window, or of a window
  double indices;    ///< accesses of an int64: forward of a thread, backward of a tap
};

/// Backward, an average pool works out the size of each window anew.
constexpr std::array kCounts = {
    PoolCounts{PoolOp::max, Pass::forward, 2, 27, 7, 10, 1},
    PoolCounts{PoolOp::max, Pass::backward, 5, 43, 6, 9, 1},
    PoolCounts{PoolOp::average, Pass::forward, 2, 47 + kDivision, 4, 5, 0},
    PoolCounts{PoolOp::average, Pass::backward, 6, 42, 13, 25 + kDivision, 0},
};

const PoolCounts& counts_of(const PoolShape& shape) {
  return *std::ranges::find_if(
      kCounts, [&](const PoolCounts& each) { return each.op == shape.op && each.pass == shape.pass; });
}

}  // namespace

double instructions_of(const PoolShape& shape, const VectorCoefficients& coefficients) {
  const PoolCounts& counts = counts_of(shape);
  const PoolElements elements = elements_of(shape);
  const bool forward = shape.pass == Pass::forward;
  const double threads = forward ? elements.output : elements.input;
  const double number = coefficients.access_ops + (shape.dtype == DType::fp32 ? 0.0 : coefficients.convert_ops);
  const double index_accesses = counts.indices * (forward ? threads : elements.taps);
  return threads * (counts.divisions * kIntegerDivision + counts.thread + number) + elements.rows * counts.row +
         elements.taps * (counts.tap + number) + index_accesses * coefficients.access_ops;
}

}  // namespace c3::gpu
