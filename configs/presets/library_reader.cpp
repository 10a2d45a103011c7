#include <fmt/format.h>

#include "configs/fields/library_fields.hpp"
#include "configs/presets/spec_readers.hpp"
#include "configs/toml/quantity_text.hpp"

namespace c3 { inline namespace configs {
namespace {

std::optional<ProtocolSpec> read_other_protocol(Section& section, std::string_view name) {
  if (!section.has(name)) return std::nullopt;
  Section table = section.table(name);
  ProtocolSpec protocol;
  read_fields(table, protocol, kProtocolFields);
  read_fields(table, protocol, kOtherProtocolFields);
  table.finish();
  return protocol;
}

/// \throws ConfigError for a release whose rules are not modelled.
void check_version(Section& section, CollectiveLibrarySpec& library) {
  const bool is_rccl = library.rules == TunerRules::rccl;
  if (!section.has("version")) {
    if (is_rccl) library.version = kOldestRccl;
    return;
  }
  const LibraryVersion& first = is_rccl ? kOldestRccl : kOldestNccl;
  const LibraryVersion oldest{first.major, first.minor, 0};
  const LibraryVersion newest = *version_named(is_rccl ? "2.28" : "2.30");
  if (library.version >= oldest && library.version <= newest) return;
  section.fail("version",
               is_rccl ? "must be 2.21 to 2.28, the releases of RCCL that are modelled; take the nearest"
                       : "must be 2.18 to 2.30, the releases of NCCL that are modelled; take the nearest");
}

}  // namespace

CollectiveLibrarySpec read_library(Section& section) {
  CollectiveLibrarySpec library;
  library.name = section.preset_name();
  read_fields(section, library, kLibraryFields);
  read_fields(section, library.channel_limits, kChannelLimitFields);
  read_fields(section, library.permits, kPermitFields);
  read_fields(section, library.simple, kProtocolFields);
  library.ll = read_other_protocol(section, "ll");
  library.ll128 = read_other_protocol(section, "ll128");
  section.explain("ll", "protocol with a flag in each word; absent: the library has none");
  section.explain("ll128", "protocol with a flag in each line; absent: the library has none");
  if (section.has("nvls_channels")) read_fields(section, library, kNvlsFields);
  check_version(section, library);
  if (library.cu_rate < library.simple.channel_rate)
    section.fail("cu_rate", fmt::format("must not be below channel_rate, which is {}",
                                        bandwidth_text(library.simple.channel_rate.value)));
  if (library.pair_cu_rate > library.cu_rate)
    section.fail("pair_cu_rate",
                 fmt::format("must not be above cu_rate, which is {}", bandwidth_text(library.cu_rate.value)));
  section.finish();
  return library;
}

}}  // namespace c3::configs
