#pragma once
/// Weights of trained choices as files: configs/selection/LIBRARY.csv.gz, and what `c3sim reproduce selection
/// --weights` writes.

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "gpu/selection/kernel_selector.hpp"

namespace c3 { inline namespace configs {

/// Keyed by name: "cdna2.forward".
using SelectorTable = std::map<std::string, KernelSelector>;

/// Reads \p file, plain or packed by gzip. Columns selector, entry, of and content; entries of a selector in
/// this order: `features` (their number), `step` (its tokens), `valid` (of a kind: sequences of numbers of
/// tokens), `tree` (of a step). A tree is written root first, the left side before the right:
/// FEATURE<THRESHOLD, @TOKENS (bits, in hexadecimal), or a leaf's value. \throws ConfigError, IoError
SelectorTable load_selectors(const std::filesystem::path& file);

/// The file of configs/selection/ for \p library ("miopen"), of the first folder of presets that has it.
std::optional<std::filesystem::path> find_selectors(std::string_view library);

/// The same. \throws ConfigError when no folder of presets has it.
std::filesystem::path shipped_selectors(std::string_view library);

/// What load_selectors reads. \param comment one line
std::string selectors_text(const SelectorTable& table, std::string_view comment);

}}  // namespace c3::configs
