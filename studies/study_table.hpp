#pragma once
/// The studies there are.

#include <vector>

#include "studies/study.hpp"

namespace c3 { inline namespace studies {

/// All of them, sorted by name.
const std::vector<Study>& all_studies();

}}  // namespace c3::studies
