#include "gpu/kernels/pool/pool_instructions.hpp"

#include <algorithm>
#include <array>

#include "gpu/kernels/pool/pool_launch.hpp"

namespace c3 { inline namespace gpu {
namespace {

struct PoolCounts {
  PoolOp op;
  Pass pass;
  ImageLayout layout;
  double place;   ///< of a place
  double tap;     ///< of an element of its window, or of a window that has it
  double narrow;  ///< more of that in 16 bits
};

/// Least squares of relative errors, of smsp__inst_executed: eight rows a kernel, of which one size of window
/// in each type decides `tap`.
constexpr std::array kCounts = {
    PoolCounts{PoolOp::max, Pass::forward, ImageLayout::nchw, 228.5, 22.6, 1.9},
    PoolCounts{PoolOp::max, Pass::backward, ImageLayout::nchw, 239.6, 14.8, 1.0},
    PoolCounts{PoolOp::max, Pass::forward, ImageLayout::nhwc, 218.9, 30.4, 0.0},
    PoolCounts{PoolOp::max, Pass::backward, ImageLayout::nhwc, 142.9, 71.0, 0.0},
    PoolCounts{PoolOp::average, Pass::forward, ImageLayout::nchw, 255.8, 7.4, 1.5},
    PoolCounts{PoolOp::average, Pass::backward, ImageLayout::nchw, 319.6, 37.4, 5.4},
    PoolCounts{PoolOp::average, Pass::forward, ImageLayout::nhwc, 263.5, 12.8, 0.8},
    PoolCounts{PoolOp::average, Pass::backward, ImageLayout::nhwc, 323.6, 41.1, 5.2},
};

const PoolCounts& counts_of(const PoolShape& shape) {
  return *std::ranges::find_if(kCounts, [&](const PoolCounts& each) {
    return each.op == shape.op && each.pass == shape.pass && each.layout == shape.layout;
  });
}

/// Most elements of the image in a window, or backward most windows that have one.
double most_along(Pass pass, std::int64_t image, std::int64_t window, std::int64_t stride,
                  std::int64_t output) {
  return static_cast<double>(pass == Pass::forward ? std::min(window, image)
                                                   : std::min((window + stride - 1) / stride, output));
}

double most_taps(const PoolShape& shape) {
  const Extent2 output = output_extent(shape);
  return most_along(shape.pass, shape.image.h, shape.window.h, shape.stride.h, output.h) *
         most_along(shape.pass, shape.image.w, shape.window.w, shape.stride.w, output.w);
}

}  // namespace

double instructions_of(const PoolShape& shape) {
  const PoolCounts& counts = counts_of(shape);
  const PoolElements elements = elements_of(shape);
  const double places = shape.pass == Pass::forward ? elements.output : elements.input;
  const double taps = shape.layout == ImageLayout::nchw ? most_taps(shape) : elements.taps / places;
  const double tap = counts.tap + (shape.dtype == DType::fp32 ? 0.0 : counts.narrow);
  return counts.place / channels_of_thread(shape) + taps * tap;
}

double fresh_elements(const PoolShape& shape) {
  const PoolElements elements = elements_of(shape);
  if (shape.pass == Pass::backward) return elements.output / elements.input;
  return std::min(elements.taps, elements.seen) / elements.output;
}

}}  // namespace c3::gpu
