#pragma once
/// Pools: the largest element of each window of an image, or the mean of its elements.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "engine/units.hpp"
#include "gpu/kernels/operator.hpp"
#include "gpu/kernels/shape_words.hpp"
#include "gpu/kernels/windows.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace gpu {

enum class PoolOp : std::uint8_t {
  max,      ///< and which element it was, for the backward pass
  average,  ///< over the elements of a window that lie in the image, or over all
};

/// Sizes are those of the forward pass, whatever the pass.
struct PoolShape {
  PoolOp op = PoolOp::max;
  std::int64_t batch = 1;
  std::int64_t channels = 1;
  Extent2 image = {};
  Extent2 window = {};
  Extent2 stride = {};
  Extent2 pad = {0, 0};  ///< on each side, at most half a window
  DType dtype = DType::fp16;
  Pass pass = Pass::forward;
  ImageLayout layout = ImageLayout::nchw;

  bool operator==(const PoolShape&) const = default;
};

const OperatorClass& operator_class(const PoolShape& shape);

/// Height and width of the output; 0 where the window does not fit the padded image.
Extent2 output_extent(const PoolShape& shape);

/// Why windows do not lie in an image as they may, by the key to blame: none fits the padded image, or a pad is
/// wider than half of one. Absent: they do.
std::optional<std::pair<ShapeKey, std::string>> broken_windows(const PoolShape& shape);

/// Elements of the whole batch.
struct PoolElements {
  double input, output;
  double rows;  ///< pairs of an output and a row of the image in its window
  double taps;  ///< pairs of an output and an element of the image in its window
  double seen;  ///< elements of the input in rows that a window has
};
PoolElements elements_of(const PoolShape& shape);

/// Of the index that a max pool keeps for each output, an int64 in PyTorch; 0 of an average pool.
Bytes pool_index(PoolOp op);

/// Bytes that a pass reads and writes, each once.
struct PoolBytes {
  Bytes read, written;
};
/// Forward reads the input and writes the output, with indices; backward reads gradients of the output, with
/// indices, and writes those of the input. Rows between windows are not read. Wrong when: windows leave columns
/// out in NHWC, which are read here.
PoolBytes bytes_of(const PoolShape& shape);

}}  // namespace c3::gpu
