#pragma once
/// The formats of files that people have, by content. A format is its reader, and a line in the table of
/// formats.cpp.

#include <span>
#include <string_view>

#include "importers/user_files/file_format.hpp"

namespace c3 { inline namespace importers {

std::span<const FileFormat> file_formats();

/// What reads files of \p role, with FILE in place of the file's name.
std::string_view command_for(FileRole role);

/// The format of \p text; nullptr for none.
const FileFormat* format_of(std::string_view text);

}}  // namespace c3::importers
