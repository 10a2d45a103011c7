#pragma once
/// The framework that a text configures. One function decides, so that no text is of two.

#include <cstdint>
#include <string_view>

namespace c3 { inline namespace importers {

enum class RecipeKind : std::uint8_t {
  none,
  megatron_script,
  megatron_yaml,
  torchtitan,
  deepspeed,
  accelerate,
  megatron_bridge,
  nemo,
  lightning,
};

/// Takes time in proportion to \p text; never throws.
RecipeKind recipe_kind_of(std::string_view text);

}}  // namespace c3::importers
