#pragma once
/// Numbers of a sweep: which way is better.

#include <string_view>

namespace c3 { inline namespace results {

enum class Better { less, more, neither };

struct SweepMetric {
  std::string_view number;  ///< as in summary_numbers.hpp, or how its name ends
  Better better;
  bool is_share = false;  ///< of one: shown in %
};

/// Of `NUMBER` or `STRATEGY.NUMBER`; one that is not known is neither.
const SweepMetric& sweep_metric(std::string_view metric);

}}  // namespace c3::results
