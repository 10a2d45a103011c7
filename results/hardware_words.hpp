#pragma once

#include <string_view>

namespace c3 { inline namespace results {

/// What the vendor of GPU \p slug (a preset's name) calls its compute units in print: "SMs" on NVIDIA parts,
/// "CUs" on AMD parts and on names of neither. Wrong when: a GPU of one's own is named like another vendor's
/// part.
std::string_view compute_units_of(std::string_view slug);

}}  // namespace c3::results
