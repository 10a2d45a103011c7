#pragma once
/// The folders where presets are looked for.

#include <filesystem>
#include <vector>

namespace c3 { inline namespace configs {

/// Folders that are searched, the first match wins: those of the environment variable C3SIM_CONFIGS (separated
/// with `:`), then the shipped configs/ (shipped_folder).
std::vector<std::filesystem::path> preset_folders();

}}  // namespace c3::configs
