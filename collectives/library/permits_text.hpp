#pragma once
/// How users write what a library may choose.

#include <string_view>

#include "collectives/library/permits.hpp"

namespace c3 { inline namespace collectives {

/// NCCL's own syntax (2.30.7, src/graph/tuning.cc): "ring,tree", "^nvls_tree", "ring;all_reduce:tree,nvls",
/// names in any case and spelling that NCCL or c3sim has. \throws std::invalid_argument for a name that is
/// none, an empty list, and a list after the first that names no operation.
Permits permitted_algorithms(std::string_view text);
Permits permitted_protocols(std::string_view text);

}}  // namespace c3::collectives
