#pragma once

#include <span>

#include "configs/tables/kernel_table.hpp"

namespace c3 { inline namespace app {

/// Names rows of a table that say nothing sensible on stderr: the first 20, then how many more there are.
void report_broken_rows(std::span<const BrokenRow> broken);

}}  // namespace c3::app
