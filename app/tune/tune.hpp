#pragma once

#include "app/tune/tuning.hpp"

namespace c3 { inline namespace app {

/// Searches until the best is found, whole steps are spent or a stop is requested, and keeps every simulated
/// candidate in the folder of the request, whence a later search takes it. \throws ConfigError, UsageError,
/// IoError; InterruptedError before the first candidate is simulated
Tuning tune(const TuneRequest& request);

}}  // namespace c3::app
