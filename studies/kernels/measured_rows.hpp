#pragma once
/// The measured kernels of one part of the study.

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "configs/jobs/measured_kernels.hpp"
#include "gpu/calibration/kernel_fit.hpp"
#include "gpu/spec.hpp"
#include "studies/comparison.hpp"

namespace c3 { inline namespace studies {

struct MeasuredRow {
  KernelSample sample;
  std::string kernel_class;  ///< as kernel_class_of says
  bool train = true;
};

/// "linear" and "bmm" as the table has it, "gemm", "attention", "softmax", "layer norm"; "elementwise" for all
/// other vector operators.
std::string kernel_class_of(const MeasuredKernel& kernel);

/// A predicted time of each row; absent where there is none.
using Predictions = std::vector<std::optional<Seconds>>;

using RowFilter = std::function<bool(const MeasuredRow&)>;
inline bool any_row(const MeasuredRow&) { return true; }

/// Shorter times of NeuSight's tables are mostly the host's launch, 24 to 31 us of it.
inline constexpr Seconds kMostlyLaunch = 100.0_us;

class MeasuredRows {
 public:
  /// What a call of the host of rows added from now on costs; before, no host is in their times.
  void measured_on(const CallCosts& calls) { calls_ = calls; }

  /// Adds the rows of \p file that \p wanted accepts. If a shape was measured twice on a GPU, only the faster
  /// row counts with \p only_fastest: the table has several libraries, and a user takes the best. \throws
  /// ConfigError, IoError
  void add(const std::filesystem::path& file, const std::string& gpu,
           const std::function<bool(const MeasuredKernel&)>& wanted, bool only_fastest = false);

  const std::vector<GpuSpec>& gpus() const { return gpus_; }
  const std::vector<MeasuredRow>& rows() const { return rows_; }
  std::size_t broken() const { return broken_; }  ///< rows that say nothing sensible
  /// Index of the GPU; absent when no row is of it.
  std::optional<std::size_t> find_gpu(const std::string& name) const;

  /// The rows of a GPU that \p filter accepts. This must outlive the result.
  RowFilter on(std::string gpu, RowFilter filter = any_row) const {
    return [this, gpu = std::move(gpu), filter = std::move(filter)](const MeasuredRow& row) {
      return gpus_[row.sample.gpu].name == gpu && filter(row);
    };
  }

  std::vector<std::size_t> indices(const RowFilter& filter) const;
  std::vector<KernelSample> samples(const std::vector<std::size_t>& rows) const;

  /// Rows that \p filter accepts against \p predictions and the roofline. Rows without prediction are
  /// skipped, as are those that their GPU cannot hold.
  Comparison compare(const Predictions& predictions, const RowFilter& filter) const;

 private:
  std::size_t gpu_index(const std::string& name);

  std::vector<GpuSpec> gpus_;
  std::vector<MeasuredRow> rows_;
  std::vector<MeasuredRow> impossible_;  ///< that their GPU cannot hold
  std::size_t broken_ = 0;
  CallCosts calls_ = {};
};

/// Predicts the rows that \p filter accepts with the coefficients of the GPUs' presets.
Predictions predict_shipped(const MeasuredRows& table, const RowFilter& filter);

}}  // namespace c3::studies
