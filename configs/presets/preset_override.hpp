#pragma once
/// What a file says on top of a preset.

#include <map>
#include <string>
#include <string_view>

#include "configs/toml/tree.hpp"

namespace c3 { inline namespace configs {

/// Factors that overrides have applied to numbers of presets so far; dotted keys, "node.link_raw". Absent: 1.
using PeakChanges = std::map<std::string, double, std::less<>>;

/// Merges \p overrides into the preset \p preset of \p table ("gpu", "node", ..). What was measured against a
/// number that they change keeps its share of it, unless they set it themselves: achieved rates of memory and
/// links follow the peak (Field::share_of), a library's rates those of the node's links, and peaks of matrix
/// products the number of compute units and the boost clock. \p changes has those of the presets before it, and
/// takes this one's.
void override_preset(std::string_view table, Table& preset, const Table& overrides, PeakChanges& changes);

/// Before \p file is merged into \p base, which it extends: rates of a GPU that \p base was measured at keep
/// their share of a peak that \p file states, unless it states them, too.
void follow_stated_peaks(Table& base, const Table& file);

}}  // namespace c3::configs
