#pragma once
/// Numbers of a sweep: which way is better.

#include <string_view>

namespace c3 { inline namespace results {

enum class Better { less, more, neither };

struct SweepMetric {
  std::string_view number;  ///< name in summary_numbers.hpp, or how it ends
  Better better;
  bool is_share = false;  ///< a share of 1: shown in %
};

/// The metric `NUMBER` or `STRATEGY.NUMBER`; one that is not known has Better::neither.
const SweepMetric& sweep_metric(std::string_view metric);

}}  // namespace c3::results
