#pragma once
/// Changing single keys of a document: --set of the command line, and a sweep's values.

#include <cstdint>
#include <string_view>

#include "configs/toml/tree.hpp"

namespace c3 { inline namespace configs {

/// Applies \p set (`a.b=value`, `+a.b=value` or `~a.b`, as load_document describes), the \p number -th one, to
/// \p document. Errors and origins say `--set:number:1`.
void apply_override(Node& document, std::string_view set, std::uint32_t number);

/// Puts \p value at \p path, as `path=value` would; errors are at the value's origin.
void override_value(Node& document, std::string_view path, Node value);

/// Replaces the name of a preset, such as fabric = "ib-ndr", with the table that it stands for, [fabric] use =
/// "ib-ndr". Does nothing to other nodes.
void spell_out_use(Node& node);

}}  // namespace c3::configs
