#pragma once
/// The words of a kernel's shape as options of a verb.

#include <span>
#include <vector>

#include "app/kernel/kernel_request.hpp"
#include "gpu/kernels/shape_words.hpp"

namespace c3 { inline namespace base {
class Command;
}}

namespace c3 { inline namespace app {

std::vector<ShapeKey> every_shape_key();

/// OP, and an option for each other of \p keys; m, n and k take several values.
void add_shape_options(Command& verb, KernelOptions& options, std::span<const ShapeKey> keys);

}}  // namespace c3::app
