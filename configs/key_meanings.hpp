#pragma once
/// One line on each key that a preset must have, for the error that lists the missing ones.

#include <string_view>

namespace c3 {

/// \param preset "gpu", "node", "library" or "fabric". Empty for a key without a line.
std::string_view meaning_of(std::string_view preset, std::string_view key);

}  // namespace c3
