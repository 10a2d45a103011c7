#pragma once
/// Every class of operators, and finding the one that a word of `op` means.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "gpu/kernels/operator_class.hpp"

namespace c3 { inline namespace gpu {

using OperatorClasses = std::span<const OperatorClass* const>;

OperatorClasses operator_classes();

/// The operator that \p words describe. `op` is a word of one of \p classes, or several of them joined by '+'
/// where the class can fuse them. What is missing is found before what is wrong; words that the operator has no
/// use for are not read. \throws ShapeError, also for a shape of 2^63 bytes or flops.
Operator operator_of(const ShapeWords& words, OperatorClasses classes = operator_classes());

/// As a word of `op`: "gemm", "attention", or a chain's names joined by '+'.
std::string name_of(const Operator& op);

/// Arithmetic of its matrix products; masked scores do not count.
Flops matrix_flops(const Operator& op);

/// Which numbers of \p gpu, beside those of memory and caches, can change its time.
GpuUse use_of(const Operator& op, const GpuSpec& gpu);

/// What it writes.
Bytes output_bytes(const Operator& op);

/// It on one of \p parts (>= 1) of its rows; itself where its class cannot be cut.
Operator part_of(const Operator& op, std::int64_t parts);

/// Under which a step's times are summed up: "gemm", "norm".
std::string_view group_of(const Operator& op);

}}  // namespace c3::gpu
