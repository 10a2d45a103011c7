#pragma once
/// Keys of config.json that change neither the time nor the memory of a step, and why.

#include <optional>
#include <string>
#include <string_view>

namespace c3 { inline namespace configs {

/// Why \p key, without its path, does not matter; absent for a key that is not known.
std::optional<std::string> why_ignored(std::string_view key);

}}  // namespace c3::configs
