#pragma once
/// Mechanisms that are believed to slow a GEMM beside a collective and that no measurement separates: off in
/// every figure that is judged, and shown on beside it.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/experiment.hpp"

namespace c3 { inline namespace studies {

struct Hypothesis {
  std::string_view id;  ///< in figures' ids
  std::string_view label;
  std::vector<std::string> sets;  ///< the end of its range that costs most, as --set takes it
};

/// One by one, then all together. Ranges and evidence: studies/interference/README.md.
const std::vector<Hypothesis>& hypotheses();

/// The experiment of \p file at nominal values under \p hypothesis. \throws ConfigError
Experiment under(const Hypothesis& hypothesis, const std::filesystem::path& file);

}}  // namespace c3::studies
