#pragma once
/// Which addresses of its tensors a convolution touches at about the same time, by how its solver goes through
/// them.

#include <string>
#include <vector>

#include "gpu/channels/footprint.hpp"
#include "gpu/kernels/convolution/convolution_shape.hpp"

namespace c3 { inline namespace gpu {

/// One step of a solver's loop.
struct StepOfLoop {
  std::int64_t channels;  ///< of an image and of the filters' rows, in the forward and data pass
  std::int64_t pixels;    ///< of each channel, in the weight pass
};

/// The two tensors that the pass reads and the one that it writes. Forward and data: a step's channels of all
/// images (neighbouring planes of NCHW; neighbouring numbers of a pixel of NHWC) and the same of the filters.
/// Weight: a step's pixels of all channels of an image. Results: `kColumnsOfTile` pixels of each plane, or
/// channels of each pixel.
std::vector<TouchedTensor> touched_by(const ConvolutionShape& shape, StepOfLoop step);

/// What the pass calls the tensor on the side of the images: "input", or its gradient; and on the other side.
std::string image_name(ConvolutionPass pass);
std::string result_name(ConvolutionPass pass);

/// A tensor that is read or written from its beginning to its end.
TouchedTensor streamed(std::string name, Bytes bytes, bool is_written);

/// A matrix of `rows` x `columns`, of which neighbouring work groups have neighbouring tiles of 32 columns:
/// what a transpose reads or writes across.
TouchedTensor across(std::string name, double rows, double columns, Bytes element, bool is_written);

}}  // namespace c3::gpu
