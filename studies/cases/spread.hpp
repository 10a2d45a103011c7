#pragma once

#include <string>
#include <string_view>

namespace c3 { inline namespace studies {

/// Writes out what a formula says of several elements of a list: `sum([0..2: ranks.#.time])` becomes
/// `sum((ranks.0.time),(ranks.1.time),(ranks.2.time))`. \throws std::invalid_argument
std::string spread(std::string_view formula);

}}  // namespace c3::studies
