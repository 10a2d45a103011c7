#pragma once
/// The gate of a block's output: each element times the logistic function of another one.

#include <cstdint>

#include "workloads/models/parts.hpp"

namespace c3 { inline namespace workloads {

/// Of \p width elements a token, made from as many others that a projection before has made and the part keeps.
parts::Own output_gate(std::int64_t width);

}}  // namespace c3::workloads
