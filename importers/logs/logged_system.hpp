#pragma once
/// The system that a log was made on, among the presets.

#include <optional>
#include <string>
#include <vector>

#include "configs/foreign/file_reading.hpp"
#include "importers/logs/library_log.hpp"

namespace c3 { inline namespace importers {

/// Keys are those of an experiment: "system", "nodes", "fabric".
struct LoggedSystem {
  std::string system;
  std::optional<int> nodes = std::nullopt;  ///< absent where nothing says it
  std::string fabric = {};                  ///< empty: the node preset's own
  std::vector<TakenKey> taken = {};
  std::vector<AssumedKey> assumed = {};
};

/// The node preset with the GPUs of \p log, as many of them in a node as there, and the nodes on which \p ranks
/// GPUs are. Where several presets are alike, the one that is named by its GPU, or by the network's plug-in.
/// \throws UsageError where the log does not name its GPUs or how many there are, or no preset has them
LoggedSystem system_of(const LibraryLog& log, std::optional<int> ranks);

/// How many nodes of \p system \p ranks GPUs are on: what the library says, or else the number of hosts. For a
/// preset that is an NVLink domain of several hosts: as many as hold the ranks. Absent where nothing says it.
/// \param hosts number of hosts in the list of devices
std::optional<int> nodes_on(const std::string& system, const LibraryLog& log, std::optional<int> ranks,
                            std::optional<int> hosts);

}}  // namespace c3::importers
