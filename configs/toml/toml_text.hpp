#pragma once
/// TOML text to tree and back.

#include <string>
#include <string_view>

#include "configs/toml/tree.hpp"

namespace c3 { inline namespace configs {

/// \returns a table node. \param file is what errors and origins call the text.
/// \throws ConfigError for a syntax error, nesting beyond reason, a date, or a number that is not finite.
Node parse_toml(std::string_view text, const std::string& file);

/// What write_toml writes behind each value: nothing, or where the value was written. For lists, it names the
/// elements that come out of another file or a --set.
enum class Comments { none, origins };

/// Text that parse_toml reads back to an equal tree (origins apart). Comments of the file are gone.
std::string write_toml(const Table& table, Comments comments = Comments::none);

/// \p value on one line, as it stands behind `key = `.
std::string write_value(const Node& value);

}}  // namespace c3::configs
