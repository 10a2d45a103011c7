#pragma once
/// Files that come with c3sim: presets, experiments, published figures.

#include <filesystem>
#include <string_view>

namespace c3 { inline namespace configs {

/// Folder of shipped files \p name ("configs", "published"). The first that exists among three: its place
/// relative to the running binary in an installation (so that an installation can be moved), \p in_source_tree
/// (for a binary that was built and not installed), and the prefix for which the build was configured.
std::filesystem::path shipped_folder(std::string_view name, const std::filesystem::path& in_source_tree);

}}  // namespace c3::configs
