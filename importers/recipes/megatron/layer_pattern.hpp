#pragma once
/// Lists of layers as Python writes them: "([0]*3+[1]*58)".

#include <optional>
#include <string_view>
#include <vector>

namespace c3 { inline namespace importers {

/// Sums, repetitions and brackets of lists of zeros and ones; absent for anything else, for deep nesting, and
/// for more entries than a model has layers.
std::optional<std::vector<int>> layer_pattern(std::string_view text);

}}  // namespace c3::importers
