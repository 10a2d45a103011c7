#pragma once

#include <optional>

#include "base/json.hpp"
#include "workloads/execute/run_result.hpp"

namespace c3 { inline namespace results {

/// What every --json says of a time that was not simulated whole; null where it was.
Json estimate_json(const std::optional<Estimate>& estimate);

}}  // namespace c3::results
