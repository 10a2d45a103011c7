#pragma once
/// Versions of what c3sim writes. They move apart from the release's version: a reader checks these.

#include <string_view>

namespace c3 { inline namespace results {

inline constexpr std::string_view kRunFileSchema = "c3sim.run";
inline constexpr std::string_view kRunFileSchemaVersion =
    "1.14.0";  ///< semantic: a new major one breaks readers
inline constexpr std::string_view kProgramFileSchema = "c3sim.program";  ///< files that c3sim import writes
inline constexpr std::string_view kProgramFileSchemaVersion = "1.3.0";
inline constexpr std::string_view kSweepFileSchema = "c3sim.sweep";  ///< merged tables
inline constexpr std::string_view kSweepFileSchemaVersion = "1.1.0";
inline constexpr std::string_view kSweepManifestSchema = "c3sim.sweep_manifest";
inline constexpr std::string_view kSweepPointSchema = "c3sim.sweep_point";
inline constexpr int kSweepSchemaVersion = 2;  ///< a sweep's folder. 2: every file has its SHA-256
inline constexpr int kJsonSchemaVersion = 1;   ///< every other verb's --json; a new one breaks readers
/// The version of `c3sim explain --json`. 2: `communication[].name` is the kind alone, without "communication:
/// ".
/// 3: what can be set otherwise is in `choices`, no more in `levers`.
inline constexpr int kExplainJsonVersion = 3;

/// What steps/resource indexes: the resource's number is its row there.
inline constexpr const char* kResourceNames = "../list/name";

}}  // namespace c3::results
