#include "importers/user_files/formats.hpp"

#include <algorithm>
#include <array>

#include "importers/user_files/entries.hpp"

namespace c3 { inline namespace importers {
namespace {

constexpr std::array kFormats = {
    &kHuggingFace,  &kTestsOutput,  &kLibraryLog,   &kVariables,      &kHwlocTopology,  &kIbNetwork,
    &kNcclTopology, &kNvidiaMatrix, &kRocmMatrices, &kSlurmTopology,  &kMegatronScript, &kMegatronYaml,
    &kTorchtitan,   &kDeepSpeed,    &kAccelerate,   &kMegatronBridge, &kNemo,           &kLightning,
};

}  // namespace

std::span<const FileFormat* const> file_formats() { return kFormats; }

const FileFormat* format_of(std::string_view text) {
  const auto* const found =
      std::ranges::find_if(kFormats, [&](const FileFormat* format) { return format->recognises(text); });
  return found == kFormats.end() ? nullptr : *found;
}

}}  // namespace c3::importers
