#pragma once
/// The page that explains a sweep: one HTML text that needs nothing else.

#include <string>
#include <utility>
#include <vector>

#include "results/sweep/sweep_choice.hpp"
#include "results/sweep/sweep_table.hpp"

namespace c3 { inline namespace results {

struct SweepPageRequest {
  std::string title;  ///< empty: the experiment
  /// Command that makes this page, without the words that say what is drawn.
  std::string command;
  std::vector<std::string> strategies;                    ///< empty: all
  std::vector<std::pair<std::string, std::string>> only;  ///< keys and labels of values
  SweepWishes wishes;
};

/// The names that \p wishes may have, and labels of values as the page writes them.
std::vector<SweptKey> page_keys(const SweepTable& table, const SweepWishes& wishes);

/// Under 5 MB, however many points there are: what is left out is said. Every name in \p request is one of \p
/// table.
std::string sweep_page(const SweepTable& table, const SweepPageRequest& request);

}}  // namespace c3::results
