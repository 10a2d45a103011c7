#pragma once
/// The [[stream]] tables of an experiment: operations by name, resolved to shapes and bytes.

#include <optional>
#include <vector>

#include "configs/jobs/operation_reader.hpp"

namespace c3 { inline namespace configs {

/// Reads `stream` of \p root, or `ranks` with streams of their own, and `communicator`. \throws ConfigError for
/// an empty or doubly named stream, an operation that is not known, an event recorded twice or awaited and
/// never recorded, ranks that are not below \p ranks or groups that do not fit it, and messages that are sent
/// and not received.
Program read_streams(Section& root, const OperationReader& reader, int ranks);

}}  // namespace c3::configs
