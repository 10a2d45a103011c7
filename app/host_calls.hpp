#pragma once
/// What calls cost on the host that --host names.

#include <string>

#include "gpu/call_costs.hpp"

namespace c3 { inline namespace app {

/// The costs in preset \p host; none when it is empty. \throws ConfigError for a name that is no preset's.
CallCosts calls_of(const std::string& host);

}}  // namespace c3::app
