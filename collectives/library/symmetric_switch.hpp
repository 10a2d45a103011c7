#pragma once
/// What the switch of a node does for kernels on symmetric memory.

#include "collectives/library/published_figures.hpp"

namespace c3 { inline namespace collectives {

/// Whether the node's switch multicasts to GPUs of \p figures' group within a node: to more than two.
bool switch_multicasts(const PublishedFigures& figures);
/// Whether it adds the call's data type: fp8 on Blackwell only.
bool switch_adds(const PublishedFigures& figures);

}}  // namespace c3::collectives
