#pragma once
/// What ibnetdiscover of infiniband-diags prints: every switch and NIC of an InfiniBand fabric, port by port,
/// in sections or as a report (`--ports`).

#include <string_view>

#include "configs/foreign/file_reading.hpp"
#include "importers/machines/fabric_preset.hpp"

namespace c3 { inline namespace importers {

inline constexpr std::string_view kIbNetworkFile = "a network that ibnetdiscover found";

bool is_ib_network(std::string_view text);

/// The tree that its switches make: leaves have NICs, spines only leaves, cores only spines. \throws
/// ConfigError with all mistakes
SwitchTree read_ib_tree(const ForeignFile& file, FileReading& reading);

/// Reads the tree as a fabric. \throws ConfigError
FileReading read_ib_network(const ForeignFile& file);

}}  // namespace c3::importers
