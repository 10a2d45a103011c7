#pragma once
/// The release of a library, as tables of measured times name it.

#include <optional>
#include <string_view>

#include "collectives/library/version.hpp"
#include "collectives/spec.hpp"

namespace c3 { inline namespace importers {

/// The release that \p software names, or the nearest whose rules are modelled. NCCL: as in "NCCL 2.26.2 CUDA
/// 12.8" or "nccl-2.27.3". RCCL: as in "RCCL 2.22.3", or by the ROCm that contains it ("ROCm 7"). Absent where
/// \p software names none.
std::optional<LibraryVersion> library_release(std::string_view software, TunerRules rules);

}}  // namespace c3::importers
