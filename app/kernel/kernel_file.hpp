#pragma once
/// `c3sim kernel --csv`: times every row of a table of shapes.

#include "app/command/exit_code.hpp"
#include "app/kernel/kernel_request.hpp"

namespace c3 { inline namespace app {

/// Writes the table with a predicted time in each row to options.output ("-": stdout). Rows that are broken,
/// and rows that the GPU cannot run, are reported on stderr and copied to OUT.rejected.csv with the reason.
/// \returns kExitPartial when there are some. \throws UsageError, ConfigError, IoError, std::system_error
ExitCode time_kernel_file(const KernelOptions& options);

}}  // namespace c3::app
