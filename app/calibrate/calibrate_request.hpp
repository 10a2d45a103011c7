#pragma once
/// What the options of `c3sim calibrate` ask for: measured kernels of one class, and the GPUs they ran on.

#include <cstdint>
#include <string>
#include <vector>

#include "configs/tables/kernel_table.hpp"
#include "gpu/calibration/kernel_fit.hpp"

namespace c3 { inline namespace app {

/// Options as typed.
struct CalibrateOptions {
  std::vector<std::string> files;  ///< FILE, or GPU[,GPU..]=FILE
  std::string kernel_class;        ///< gemm, attention, vector
  std::vector<std::string> train;  ///< GPUs; empty: all
  std::string output;
  std::string start;   ///< file; empty: the shipped one
  std::string source;  ///< source of the data, for the file written
  std::string host;    ///< preset, whose part of a call is in the times; empty: none
  std::vector<std::string> hold;
  std::vector<std::string> free;  ///< fitted although the start only assumes them
  std::string least_time = "0 us";
  std::size_t rows = 0;
  std::size_t starts = 3;
  std::size_t folds = 0;
  std::uint64_t seed = 1;
  bool leave_out = true;
  bool scale = false;
};

/// Samples that may be fitted (train) and those that a table keeps back (test), of the same GPUs.
struct MeasuredSet {
  std::vector<GpuSpec> gpus;
  std::vector<KernelSample> train;
  std::vector<KernelSample> test;
  std::vector<KernelSample> others;  ///< samples on GPUs that --train does not name
  std::vector<std::string> sources;  ///< files
  std::vector<BrokenRow> broken;     ///< rows that say nothing sensible, without their text
  std::size_t short_rows = 0;        ///< below --min-time
  std::size_t impossible = 0;        ///< rows that their GPU cannot run
};

/// "vector_gemm", "matrix_gemm", "vector" or "attention", by --class and what the samples hold.
std::string coefficient_class(const CalibrateOptions& options, const MeasuredSet& set);

/// Reads the files. When one shape was measured twice on a GPU the faster row counts: libraries get better,
/// never worse.
/// \throws UsageError, ConfigError, std::system_error; UsageError when no row of the class is left.
MeasuredSet read_measured_set(const CalibrateOptions& options);

}}  // namespace c3::app
