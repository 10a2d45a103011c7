#pragma once
/// Collectives with nothing left to the library, on every system that is shipped.

#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collectives/measure.hpp"
#include "configs/jobs/experiment_reader.hpp"
#include "configs/presets/preset_store.hpp"
#include "configs/toml/config_error.hpp"
#include "engine/errors.hpp"

namespace c3::test {

/// Whether C3SIM_ATTACK asks for all that there is, not for what fits into a minute.
inline bool takes_all() {
  const char* const size = std::getenv("C3SIM_ATTACK");
  return size != nullptr && std::string_view(size) == "whole";
}

struct Pinned {
  CollectiveKind kind;
  Algorithm algorithm;
  Protocol protocol;

  std::string text() const {
    return fmt::format("{} {} {}", name_of(kind), name_of(algorithm), name_of(protocol));
  }
};

/// Kinds that have one size.
inline std::vector<CollectiveKind> sized_kinds() {
  std::vector<CollectiveKind> kinds(kCollectiveKinds.begin(), kCollectiveKinds.end());
  std::erase(kinds, CollectiveKind::all_to_all_v);
  std::erase(kinds, CollectiveKind::barrier);
  return kinds;
}

/// Every algorithm and protocol of \p kind, whether a cluster can run it or not.
inline std::vector<Pinned> pinned_methods(CollectiveKind kind) {
  std::vector<Pinned> all;
  for (const Algorithm algorithm : kAlgorithms) {
    for (const Protocol protocol : kProtocols)
      if (supports(algorithm, kind)) all.push_back({kind, algorithm, protocol});
  }
  return all;
}

/// One grain for a cluster, whatever is changed of it.
inline CollectiveGrain grain_on(const ClusterSpec& cluster) {
  constexpr int kMostEdges = 32;
  return cluster.ranks() <= kMostEdges ? CollectiveGrain::edge : CollectiveGrain::gang;
}

/// Absent where the cluster cannot run it. \param channels 0: the library's
inline std::optional<CollectiveMeasurement> time_pinned(const ClusterSpec& cluster, const Pinned& pinned,
                                                        Bytes bytes, int channels) {
  const MeasuredMethod how{.method = {pinned.algorithm, pinned.protocol, {channels, channels}},
                           .grain = grain_on(cluster)};
  try {
    return measure_collective(cluster, {.kind = pinned.kind, .bytes = bytes}, how);
  } catch (const InfeasibleError&) {
    return std::nullopt;
  }
}

/// Node preset \p system, \p nodes of it, joined by \p fabric or its own; absent where that cannot be.
inline std::optional<ClusterSpec> shipped(const std::string& system, int nodes, const std::string& fabric = "",
                                          const std::vector<std::string>& sets = {}) {
  try {
    return load_cluster({.system = system, .nodes = nodes, .fabric = fabric}, sets);
  } catch (const ConfigError&) {
    return std::nullopt;
  }
}

}  // namespace c3::test
