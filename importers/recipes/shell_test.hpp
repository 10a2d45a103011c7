#pragma once
/// Tests of a shell script that can be decided without running it.

#include <cstdint>
#include <span>
#include <string_view>

#include "importers/recipes/shell_values.hpp"

namespace c3 { inline namespace importers {

enum class Decision : std::uint8_t { no, unknown, yes };

constexpr Decision both_of(Decision a, Decision b) { return a < b ? a : b; }
constexpr Decision opposite_of(Decision one) {
  return one == Decision::unknown ? one : one == Decision::yes ? Decision::no : Decision::yes;
}

/// Whether a statement that begins with \p word is a test: "[", "[[" or "test".
bool is_test(std::string_view word);

/// What `[ A = B ]`, `[ -n A ]`, `[[ A -gt 1 ]]` and the like say; unknown for any other words.
Decision decided(std::span<const ShellWord> words);

}}  // namespace c3::importers
