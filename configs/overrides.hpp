#pragma once
/// One --set of the command line.

#include <cstdint>
#include <string_view>

#include "configs/tree.hpp"

namespace c3 {

/// Applies \p set (`a.b=value`, `+a.b=value` or `~a.b`, as load_document describes), the \p number -th one, to
/// \p document. Errors and origins say `--set:number:1`.
void apply_override(Node& document, std::string_view set, std::uint32_t number);

}  // namespace c3
