#pragma once

namespace c3 { inline namespace workloads {

/// Which operations of a stream run. The others are skipped; events never are.
enum class OperationFilter { all, kernels, collectives, none };

}}  // namespace c3::workloads
