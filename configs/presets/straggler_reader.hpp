#pragma once
/// [straggler.NAME]: ranks whose hardware is not as good as that of the others.

#include <vector>

#include "collectives/spec.hpp"
#include "configs/toml/section.hpp"

namespace c3 { inline namespace configs {

/// What the file states of ranks of \p cluster, whose `stragglers` are not looked at.
std::vector<Straggler> read_stragglers(Section& root, const ClusterSpec& cluster, const Sampling& sampling);

}}  // namespace c3::configs
