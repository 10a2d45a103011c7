#pragma once
/// Which keys of an experiment name presets, and the presets put in their place.

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>

#include "configs/presets/preset_store.hpp"
#include "configs/toml/tree.hpp"

namespace c3 { inline namespace configs {

/// A key whose value is the name of a preset, which then takes its place as a table of the root.
struct PresetReference {
  std::string_view holder;  ///< the table with the key; empty: the root
  std::string_view key;
  PresetKind kind;
  std::string_view table;  ///< overrides of the preset
  std::string_view meaning;

  std::string name() const { return holder.empty() ? std::string(key) : fmt::format("{}.{}", holder, key); }
};

/// A system's GPU and library are named by the node's preset, so the node comes first; a host by the
/// framework's.
inline constexpr std::array<PresetReference, 9> kPresetReferences = {{
    {"", "system", PresetKind::node, "node", "preset of the node (c3sim list systems)"},
    {"node", "gpu", PresetKind::gpu, "gpu", "preset of its GPUs (c3sim list gpus)"},
    {"node", "library", PresetKind::library, "library",
     "preset of its collective library (c3sim list libraries)"},
    {"model", "use", PresetKind::model, "model", "preset (c3sim list models); without it, all is written out"},
    {"fabric", "use", PresetKind::fabric, "fabric", "preset of the fabric (c3sim list fabrics)"},
    {"training", "framework", PresetKind::framework, "framework",
     "preset of the framework (c3sim list frameworks)"},
    {"training", "host", PresetKind::host, "host", "preset (c3sim list hosts); default: the framework's"},
    {"recommendation", "host", PresetKind::host, "host", "preset (c3sim list hosts); without it, never late"},
    {"image_network", "host", PresetKind::host, "host", "preset (c3sim list hosts); without it, never late"},
}};

/// \p document with presets in place of their names, overrides on top. \throws ConfigError
Node resolve(const Node& document);

}}  // namespace c3::configs
