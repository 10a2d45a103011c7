#pragma once
/// Functions that rows of this study call, see row_functions.hpp.

#include <string>
#include <string_view>

#include "gpu/kernels/operator.hpp"
#include "studies/cases/row_functions.hpp"

namespace c3 { inline namespace studies {

/// A kernel beside blocks on SMs of their own. Columns gpu, kernel, way, blocks, rate_alone_gb_s; gives slower
/// (the kernel's time over that alone, on the same SMs) and kept (the blocks' rate over that alone).
RowFunction blocks_beside_row;
/// A kernel beside copies by engines. Columns gpu, kernel, way; gives slower, as above, and rate_gb_s.
RowFunction host_copies_row;
/// Kernels on streams that share all SMs. Columns gpu and m, n, k, degree, each or first, second (as in "add
/// 16384 8192 x 4"); gives gain: time one after another over that at once.
RowFunction kernels_at_once_row;
/// A kernel on a board that is one deviation slower than others of its type. Columns gpu and those of
/// operator_in; gives later, in per cent.
RowFunction slower_board_row;

/// The product that "gemm M N K" means, or the kernel of that name in parts.csv. \throws ConfigError where \p
/// name is neither, at \p column
Operator kernel_called(const RowArguments& row, std::string_view column, const std::string& name);

}}  // namespace c3::studies
