#pragma once
/// The repetitions of one setup, and their percentiles.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "workloads/execute/run_result.hpp"

namespace c3 { inline namespace workloads {

/// One repetition of a setup.
struct Sample {
  std::size_t draw = 0;  ///< number of the draw of parameters
  std::uint64_t seed = 0;
  RunResult run;  ///< with records where it was written down

  Seconds time() const { return run.time; }
};

/// Nearest-rank percentile, so that it is one of the samples. \p samples must be sorted and not empty.
const Sample& percentile(const std::vector<Sample>& samples, double percent);

std::vector<Sample> by_time(std::vector<Sample> samples);

Seconds median(const std::vector<Sample>& samples);
/// Of those of \p draw.
Seconds median_of_draw(const std::vector<Sample>& samples, std::size_t draw);

}}  // namespace c3::workloads
