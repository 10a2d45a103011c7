#pragma once
/// The system of an experiment: nodes and what joins them, read from presets in place.

#include "collectives/spec.hpp"
#include "configs/toml/section.hpp"
#include "configs/toml/tree.hpp"

namespace c3 { inline namespace configs {

/// Says in `fabric.use` which fabric joins the nodes of \p root, whose node preset is in place: the one that is
/// named, or the node's own where there are several nodes or keys of it are overridden. Takes `node.fabric`
/// away.
void name_fabric(Table& root);

/// Reads `gpu`, `node`, `library`, `nodes`, `fabric` and `straggler`, and checks that they fit each other.
ClusterSpec read_cluster(Section& root, const Sampling& sampling);

}}  // namespace c3::configs
