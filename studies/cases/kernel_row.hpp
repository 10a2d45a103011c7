#pragma once
/// What functions of rows about kernels share.

#include <memory>

#include "gpu/kernels/operator.hpp"
#include "gpu/spec.hpp"
#include "studies/cases/row_functions.hpp"

namespace c3 { inline namespace studies {

/// The operator that a row tells under the columns of `c3sim kernel --csv`. \throws ConfigError with its place
Operator operator_in(const RowArguments& row);

/// The preset under `gpu` with the `gpu.` keys of `set`; rows that ask for the same share it.
/// \throws ConfigError, IoError
std::shared_ptr<const GpuSpec> gpu_in(const RowArguments& row);

}}  // namespace c3::studies
