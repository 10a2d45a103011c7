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
extern const FileFormat kMegatronScript;
extern const FileFormat kMegatronYaml;
extern const FileFormat kTorchtitan;
extern const FileFormat kDeepSpeed;
extern const FileFormat kAccelerate;
extern const FileFormat kMegatronBridge;
extern const FileFormat kNemo;
extern const FileFormat kLightning;

}}  // namespace c3::importers
