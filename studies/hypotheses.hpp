#pragma once
/// Mechanisms that are believed to slow a GEMM beside a collective and that no measurement separates: off in
/// every figure that is judged, and shown on beside it.

#include <filesystem>
#include <string>
#include <vector>

#include "workloads/experiment.hpp"

namespace c3 { inline namespace studies {

struct Hypothesis {
  std::string id;  ///< in figures' ids
  std::string label;
  std::vector<std::string> sets;  ///< the end of its range that costs most, as --set takes it
};

/// One by one, then all together: those rows of conccl/hypotheses.csv that set something and take no measured
/// mechanism away. Ranges and evidence: studies/interference/README.md. \throws ConfigError, IoError
const std::vector<Hypothesis>& hypotheses();

/// The experiment of \p file at nominal values under \p hypothesis. \throws ConfigError
Experiment under(const Hypothesis& hypothesis, const std::filesystem::path& file);

}}  // namespace c3::studies
