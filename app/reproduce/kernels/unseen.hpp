#pragma once
/// Predictions by coefficients that were fitted without the rows, or without the GPU, that they are for.

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "app/reproduce/kernels/measured_rows.hpp"
#include "gpu/calibration/kernel_fit.hpp"
#include "gpu/kernel_model/coefficient_table.hpp"

namespace c3 {

/// Where a fit to rows of \p seen GPUs may begin, so that it says nothing of another: without the variants that
/// were fitted to GPUs outside of them, and with a default that some of them uses.
CoefficientTable start_without_others(const CoefficientTable& shipped, std::span<const GpuSpec> seen);

/// How the study fits: a few hundred rows of each GPU, so that all its fits take minutes together.
KernelFitOptions study_fit();

/// Writes into \p predictions the rows \p asked of \p table, by coefficients of \p kernel_class fitted to its
/// rows \p fitted. Nothing is written when those are fewer than twice the coefficients.
void predict_from_others(const MeasuredRows& table, std::string_view kernel_class,
                         const std::vector<std::size_t>& fitted, const std::vector<std::size_t>& asked,
                         Predictions& predictions);

/// Writes the rows \p rows, each by a fit that has not seen its shape on any GPU. Nothing is written when there
/// are too few for it.
void predict_across_shapes(const MeasuredRows& table, std::string_view kernel_class,
                           const std::vector<std::size_t>& rows, Predictions& predictions);

}  // namespace c3
