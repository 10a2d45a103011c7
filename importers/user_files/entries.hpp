#pragma once
/// The entries of the table of formats.

#include "importers/user_files/file_format.hpp"

namespace c3 { inline namespace importers {

extern const FileFormat kHuggingFace;
extern const FileFormat kTestsOutput;
extern const FileFormat kLibraryLog;
extern const FileFormat kVariables;
extern const FileFormat kHwlocTopology;
extern const FileFormat kNcclTopology;
extern const FileFormat kNvidiaMatrix;
extern const FileFormat kRocmMatrices;
extern const FileFormat kSlurmTopology;
extern const FileFormat kIbNetwork;

}}  // namespace c3::importers
