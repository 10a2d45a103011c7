#pragma once
/// Predictions by coefficients that were fitted without the rows, or without the GPU, that they are for.

#include <string_view>
#include <vector>

#include "gpu/calibration/kernel_fit.hpp"
#include "studies/kernels/measured_rows.hpp"

namespace c3 { inline namespace studies {

/// How the study fits a class: a few hundred rows of each GPU, so that all fits take minutes together;
/// coefficients that the shipped table does not have from a fit keep their values.
KernelFitOptions study_fit(std::string_view kernel_class);
inline constexpr std::size_t kMostRows = 400;  ///< of each GPU

/// Writes into \p predictions the rows \p asked of \p table, by coefficients of \p kernel_class fitted to its
/// rows \p fitted. Nothing is written when those are fewer than twice the coefficients.
void predict_from_others(const MeasuredRows& table, std::string_view kernel_class,
                         const std::vector<std::size_t>& fitted, const std::vector<std::size_t>& asked,
                         Predictions& predictions);

/// Writes the rows \p rows, each by a fit that has not seen its shape on any GPU. Nothing is written when there
/// are too few for it.
void predict_across_shapes(const MeasuredRows& table, std::string_view kernel_class,
                           const std::vector<std::size_t>& rows, Predictions& predictions);

}}  // namespace c3::studies
