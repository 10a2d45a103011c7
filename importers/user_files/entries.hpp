#pragma once
/// The entries of the table of formats.

#include "importers/user_files/file_format.hpp"

namespace c3 { inline namespace importers {

extern const FileFormat kHuggingFace;
extern const FileFormat kTestsOutput;
extern const FileFormat kLibraryLog;
extern const FileFormat kVariables;

}}  // namespace c3::importers
