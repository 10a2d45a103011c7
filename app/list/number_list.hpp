#pragma once
/// Every number of presets, with what it means and where it comes from: `c3sim list gpus NAME --sources`.

#include <string>
#include <vector>

#include "base/json.hpp"
#include "configs/presets/preset_store.hpp"

namespace c3 { inline namespace app {

/// One object for each number and choice of preset \p name: its name, key and meaning, and what is written of
/// it: `value`, or `low`, `nominal` and `high`; `kind` and `source`.
std::vector<Json> numbers_of(PresetKind kind, const std::string& name);

/// Prints such objects, each as a paragraph of \p width columns.
void print_numbers(const std::vector<Json>& numbers, std::size_t width);

}}  // namespace c3::app
