#pragma once
/// The gate of a block's output: each element times the logistic function of another one.

#include <cstdint>

#include "workloads/models/parts.hpp"

namespace c3 { inline namespace workloads {

/// A gate of \p width elements a token, computed from as many others, which a projection has made and the gate
/// keeps.
parts::Own output_gate(std::int64_t width);

}}  // namespace c3::workloads
