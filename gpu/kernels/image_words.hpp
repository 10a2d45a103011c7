#pragma once
/// Sizes of images and windows as words give them, for every class of operators on images.

#include <string>

#include "gpu/kernels/shape_words.hpp"
#include "gpu/kernels/windows.hpp"

namespace c3 { inline namespace gpu {

/// Two keys of which the second means the first where it is not given, and the first \p otherwise. At most 2^20
/// each. \throws ShapeError
Extent2 sides_of(const ShapeWords& words, ShapeKey first, ShapeKey second, Extent2 otherwise = {});
/// The same of what may be 0, and is where nothing is given.
Extent2 pads_of(const ShapeWords& words, ShapeKey first, ShapeKey second);

/// "56 x 28"
std::string by(const Extent2& extent);

}}  // namespace c3::gpu
