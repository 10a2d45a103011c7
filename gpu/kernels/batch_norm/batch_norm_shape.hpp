#pragma once
/// Batch normalisation of images in training: each channel by its mean and variance over a batch.

#include <cstdint>

#include "gpu/kernels/operator.hpp"
#include "gpu/kernels/windows.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace gpu {

/// Forward finds mean and variance of each channel and normalises it; backward takes the gradient of the output
/// and the input, and makes the gradients of the input, of scale and of shift.
struct BatchNormShape {
  std::int64_t batch = 1;
  std::int64_t channels = 1;
  Extent2 image = {};
  DType dtype = DType::fp16;
  Pass pass = Pass::forward;
  ImageLayout layout = ImageLayout::nchw;

  bool operator==(const BatchNormShape&) const = default;
};

const OperatorClass& operator_class(const BatchNormShape& shape);

/// Of the whole batch.
inline double elements_of(const BatchNormShape& shape) {
  return static_cast<double>(shape.batch) * static_cast<double>(shape.channels) *
         static_cast<double>(shape.image.h) * static_cast<double>(shape.image.w);
}

}}  // namespace c3::gpu
