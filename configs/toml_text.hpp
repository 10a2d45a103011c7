#pragma once
/// TOML text to tree and back.

#include <string>
#include <string_view>

#include "configs/tree.hpp"

namespace c3 {

/// \returns a table node. \param file is what errors and origins call the text.
/// \throws ConfigError for a syntax error, a date, or a number that is not finite.
Node parse_toml(std::string_view text, const std::string& file);

/// Text that parse_toml reads back to an equal tree (origins apart). Comments are gone.
std::string write_toml(const Table& table);

}  // namespace c3
