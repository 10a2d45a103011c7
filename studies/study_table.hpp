#pragma once
/// The studies there are.

#include <vector>

#include "studies/study.hpp"

namespace c3 {

/// All of them, sorted by name.
const std::vector<Study>& studies();

}  // namespace c3
