#pragma once
/// The formats of files that people have, by content. A format is one entry: add its file, and a line to
/// formats.cpp.

#include <span>
#include <string_view>

#include "importers/user_files/file_format.hpp"

namespace c3 { inline namespace importers {

std::span<const FileFormat* const> file_formats();

/// The format of \p text; nullptr for none.
const FileFormat* format_of(std::string_view text);

}}  // namespace c3::importers
