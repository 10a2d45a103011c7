#include "app/broken_rows.hpp"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "results/shown_text.hpp"

namespace c3 { inline namespace app {

void report_broken_rows(std::span<const BrokenRow> broken) {
  constexpr std::size_t kMostReported = 20;
  for (const BrokenRow& row : broken.first(std::min(broken.size(), kMostReported)))
    fmt::print(stderr, "{}\n", shown_lines(ConfigError(row.at, row.key, row.reason).what()));
  if (broken.size() > kMostReported)
    fmt::print(stderr, "c3sim: and {} more broken rows\n", broken.size() - kMostReported);
}

}}  // namespace c3::app
