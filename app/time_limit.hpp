#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace c3 { inline namespace app {

/// Reads the value of a time limit option: "90", "90 s", "2m", "1.5 h". A bare number is seconds.
/// \returns absent for an empty text. \throws UsageError that names \p option
std::optional<std::chrono::duration<double>> read_time_limit(const std::string& option,
                                                             const std::string& text);

}}  // namespace c3::app
