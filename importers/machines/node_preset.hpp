#pragma once
/// A machine as a node preset.

#include "configs/foreign/file_reading.hpp"
#include "configs/toml/config_error.hpp"
#include "importers/machines/machine.hpp"

namespace c3 { inline namespace importers {

/// Most GPUs, and most NICs, of a node.
inline constexpr std::size_t kMostDevices = 256;

/// Writes \p machine as a node into \p reading, which has `file` and `what`: presets, the taken key `system`,
/// what the file lacks and c3sim assumes, what c3sim cannot say, facts.
/// \param root the file's outermost key, which is named as the source of `system`
/// \param at the place for errors that concern the whole file
/// \throws ConfigError for a machine without GPUs or with too many, for a GPU that the file does not name
/// or that has no preset, and for links that no shipped node is like
void add_node(FileReading& reading, Machine machine, const std::string& root, const Origin& at);

/// What to call a preset made of the file \p name: "topo-8" of "/tmp/Topo_8.xml", and never a shipped one's
/// name.
std::string preset_name_of(const std::string& name);

}}  // namespace c3::importers
