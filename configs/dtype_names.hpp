#pragma once
/// How data types are written, in TOML and in tables of shapes.

#include <array>
#include <string_view>
#include <utility>

#include "gpu/spec.hpp"

namespace c3 {

/// Our own names first, then those of frameworks.
inline constexpr std::array<std::pair<std::string_view, DType>, 9> kDTypeNames = {{{"bf16", DType::bf16},
                                                                                   {"fp16", DType::fp16},
                                                                                   {"fp8", DType::fp8},
                                                                                   {"fp32", DType::fp32},
                                                                                   {"bfloat16", DType::bf16},
                                                                                   {"float16", DType::fp16},
                                                                                   {"half", DType::fp16},
                                                                                   {"float32", DType::fp32},
                                                                                   {"float", DType::fp32}}};

}  // namespace c3
