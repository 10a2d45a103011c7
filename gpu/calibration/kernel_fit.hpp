#pragma once
/// Coefficients of a kernel class from measured kernels.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/units.hpp"
#include "gpu/calibration/error_statistics.hpp"
#include "gpu/calibration/robust_fit.hpp"
#include "gpu/call_costs.hpp"
#include "gpu/kernels/coefficient_table.hpp"
#include "gpu/kernels/operator.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace gpu {

/// One measured kernel alone.
struct KernelSample {
  Operator op;
  std::size_t gpu = 0;   ///< index into the GPUs given with it
  Seconds time;          ///< > 0
  CallCosts calls = {};  ///< of the host, where its part of a call is in the time
};

struct KernelFitOptions {
  std::vector<std::string> hold =
      {};                     ///< keys of the table that keep their value; those that start at 0 do anyway
  std::size_t most_rows = 0;  ///< of each GPU, drawn at random; 0 = all
  FitOptions fit = {.soft_l1_scale = 0.1,
                    .starts = 3,
                    .iterations = 30,
                    .difference_step = 3e-3,
                    .least_gain = 1e-5,
                    .seed = 1};
};

struct KernelFit {
  CoefficientTable table;             ///< the fitted one
  std::vector<std::string> at_bound;  ///< keys that ended at a bound of their range
  double cost = 0;
  std::size_t rows = 0;
  std::size_t evaluations = 0;
};

/// Fits the coefficients of \p start to \p samples, every GPU weighing the same. GPUs take the fitted table for
/// their own family and memory; a key of a family that no sample belongs to keeps its value. \throws
/// std::invalid_argument for keys that are not in the table and for too few samples; InfeasibleError when a GPU
/// cannot run a sample.
KernelFit fit_kernels(std::span<const KernelSample> samples, std::span<const GpuSpec> gpus,
                      const CoefficientTable& start, const KernelFitOptions& options = {});

/// Times of \p samples with \p table in place of what \p gpus have.
std::vector<Seconds> predict_kernels(std::span<const KernelSample> samples, std::span<const GpuSpec> gpus,
                                     const CoefficientTable& table);

/// Times of \p asked by a fit to \p fitted that may not know their GPU: a share that only GPUs beyond \p fitted
/// would take is left out of \p start, and a default that none of \p fitted takes is the mean of the shares
/// that they take.
std::vector<Seconds> predict_from(std::span<const KernelSample> fitted, std::span<const KernelSample> asked,
                                  std::span<const GpuSpec> gpus, const CoefficientTable& start,
                                  const KernelFitOptions& options = {});

/// The factor of all times but launches that brings \p table's times to those of \p samples: the median of the
/// factors that each sample alone asks for, within the range of the coefficient `scale`. \throws as
/// predict_kernels.
Scale fit_scale(std::span<const KernelSample> samples, std::span<const GpuSpec> gpus,
                const CoefficientTable& table);

/// A number that is equal for equal operators, whatever the GPU.
std::uint64_t operator_key(const Operator& op);
/// A number that is equal for operators that are held out together (OperatorClass::shape_numbers): of a
/// convolution, for all batches, types and passes of a layer.
std::uint64_t shape_key(const Operator& op);

/// \p samples predicted by fits that did not see them: their shape (one fold of \p folds), or their GPU.
std::vector<Seconds> predict_unseen_shapes(std::span<const KernelSample> samples, std::span<const GpuSpec> gpus,
                                           const CoefficientTable& start, std::size_t folds,
                                           const KernelFitOptions& options = {});
std::vector<Seconds> predict_unseen_gpus(std::span<const KernelSample> samples, std::span<const GpuSpec> gpus,
                                         const CoefficientTable& start, const KernelFitOptions& options = {});

}}  // namespace c3::gpu
