#pragma once
/// The file of a recorded run, `program.h5`: what `c3sim import -o` writes and an experiment's `[trace] use`
/// reads.

#include <filesystem>

#include "workloads/traces/replay/recorded_run.hpp"

namespace c3 { inline namespace results {

/// Writes the whole file beside \p target, sealed, and moves it there. \param command_line that makes it again.
/// \throws IoError
void write_program_file(const std::filesystem::path& target, const RecordedRun& run,
                        const std::string& command_line);

/// \throws IoError for a file that is damaged, of another kind or version, or whose rows point to what is not
/// there
RecordedRun read_program_file(const std::filesystem::path& path);

/// Whether \p path is a file of this kind. \throws IoError when it cannot be read or is damaged
bool is_program_file(const std::filesystem::path& path);

/// What the file holds, for people; or as one JSON object.
std::string program_text(const std::filesystem::path& path, const RecordedRun& run);
std::string program_json(const std::filesystem::path& path, const RecordedRun& run);

}}  // namespace c3::results
