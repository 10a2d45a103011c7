#pragma once
/// How long the GPUs of a pipeline wait.

#include <vector>

#include "workloads/execute/run_result.hpp"

namespace c3::inline workloads {

/// StepBreakdown::bubble, averaged over all ranks. \pre \p classes has every rank
inline Seconds average_bubble(const std::vector<SimulatedClass>& classes) {
  Seconds sum;
  double ranks = 0.0;
  for (const SimulatedClass& its : classes) {
    sum += its.times.bubble * static_cast<double>(its.multiplicity());
    ranks += its.multiplicity();
  }
  return sum / ranks;
}

}  // namespace c3::workloads
