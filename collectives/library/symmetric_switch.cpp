#include "collectives/library/symmetric_switch.hpp"

namespace c3 { inline namespace collectives {

bool switch_multicasts(const PublishedFigures& figures) {
  return figures.cluster.node.switch_reduces && figures.library.nvls_channels > 0 &&
         figures.ranks_per_node() > 2.0;
}

bool switch_adds(const PublishedFigures& figures) {
  const CollectiveCall& call = figures.call;
  return !reduces(call.kind) || call.dtype != DType::fp8 ||
         figures.cluster.gpu.family.tuned_as == TunedGpu::blackwell;
}

}}  // namespace c3::collectives
